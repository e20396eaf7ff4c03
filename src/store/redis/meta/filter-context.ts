import type { BloomEventListener } from '../../../common/index.js';
import type { BloomLayout, FilterLayout } from '../../../filter/index.js';
import type { OpenFilterOptions, StoredFilter, StoreRecorder } from '../../index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { MetadataCodec } from './metadata-codec.js';
import type { RedisKeys } from './redis-keys.js';
import type { ServerScripts } from './server-scripts.js';
import type { MetadataSnapshot } from './stored-meta.js';

/** The keys that a filter of any kind has. */
export type MetadataKeys = Pick<RedisKeys, 'meta' | 'lease' | 'builds' | 'probe'>;

/** What everything that works on one filter in Redis shares. */
export interface FilterContext {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: MetadataKeys;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  /** This application; undefined: whose filter it is does not matter. */
  readonly owner: string | undefined;
  /** Which ids this process would build the filter of; left out: all processes have the same. */
  readonly contents?: OpenFilterOptions['contents'];
  /** The epoch of the filter of which this is a part; left out: generations have none. */
  readonly epoch?: (() => Promise<string>) | undefined;
  /** Whether the filter can be rebuilt: what was lost is read again. */
  readonly hasSource: boolean;
  /** Undefined where nobody counts. */
  readonly recorder?: StoreRecorder | undefined;
}

/** What is known of a filter whose metadata one process reads. */
export interface MetadataContext<Stored, Snapshot extends MetadataSnapshot<Stored>> extends FilterContext {
  readonly codec: MetadataCodec<Stored, Snapshot>;
  /** Whether a filter that was never seen is taken as others have left it. */
  readonly adopts: boolean;
  /** Whether nobody else makes the filter, so that every live generation is a build and is counted as one. */
  readonly ownsKey: boolean;
  /** Whether the data of a server that restarted or failed over are believed. */
  readonly trustAfterFailover: boolean;
}

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
  /** Key of other systems that this filter alone may be on; undefined: it is on keys of its own. */
  readonly claimedKey: string | undefined;

  /** @throws {BloomConfigError} for a key that no other key can share a hash slot with. */
  openRedis(context: RedisContext): StoredFilter;
}

export function opensInRedis(layout: BloomLayout): layout is RedisLayout {
  return typeof (layout as Partial<RedisLayout>).openRedis === 'function';
}
