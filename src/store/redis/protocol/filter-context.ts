import type { BloomEventListener } from '../../../common/index.js';
import type { OpenFilterOptions, StoreRecorder } from '../../index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import type { RedisKeys } from './redis-keys.js';
import type { ServerScripts } from './server-scripts.js';

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
