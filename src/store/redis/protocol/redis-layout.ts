import type { BloomLayout, FilterLayout } from '../../../filter/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { ServerScripts } from './server-scripts.js';

/** What a filter in Redis is opened with. */
export interface RedisContext extends Omit<OpenFilterOptions, 'layout' | 'owner'> {
  /** The application that claims the filter; undefined: none does. */
  readonly owner: string | undefined;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly keyPrefix: string;
  /** Believes the data of a server that restarted or failed over. */
  readonly trustAfterFailover: boolean;
}

/** A layout whose filters can be in Redis. */
export interface RedisLayout extends FilterLayout {
  /** The key of other systems that the filter is on, and no other filter of the store may be; undefined: it is on keys of its own. */
  readonly claimedKey: string | undefined;

  /** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
  openRedis(context: RedisContext): StoredFilter;
}

export function opensInRedis(layout: BloomLayout): layout is RedisLayout {
  return typeof (layout as Partial<RedisLayout>).openRedis === 'function';
}
