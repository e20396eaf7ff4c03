import type { BloomEventListener } from '../../../common/index.js';
import type { NegativeCacheScripts } from './negative-cache/negative-cache-scripts.js';
import type { BlockedMetadataCache } from './blocked-metadata-cache.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { RedisKeys } from '../protocol/redis-keys.js';
import type { BlockedScripts } from './blocked-scripts.js';
import type { ServerScripts } from '../protocol/server-scripts.js';

/** What everything that works on one filter in Redis shares. */
export interface BlockedContext {
  readonly name: string;
  /** Whether the filter can be rebuilt. */
  readonly hasSource: boolean;
  /** This application; undefined: whose filter it is does not matter. */
  readonly owner: string | undefined;
  readonly emit: BloomEventListener;
  readonly keys: RedisKeys;
  readonly connection: RedisConnection;
  readonly scripts: ServerScripts;
  readonly blocked: BlockedScripts;
  readonly negativeCacheScripts: NegativeCacheScripts;
  readonly views: BlockedMetadataCache;
}
