import type { Generation } from '../../../filter/index.js';
import type { FilterPart } from '../../index.js';
import type { RedisKeys } from '../meta/redis-keys.js';
import type { StoredFilterContext } from '../filter/stored-filter-in-redis.js';
import type { BlockedScripts } from './blocked-scripts.js';
import type { BlockedSnapshot } from './blocked-meta.js';
import type { CopyScripts } from './copies/copy-scripts.js';
import type { CopyWaits } from './copies/copy-waits.js';
import type { LostLeases } from './copies/lost-leases.js';
import type { NegativeCacheScripts } from './negative-cache-table.js';

/** What everything that works on one filter of layout `blocked` shares. */
export interface BlockedContext extends StoredFilterContext<Generation, BlockedSnapshot> {
  readonly keys: RedisKeys;
  /** Which part of a filter it is; undefined: the filter is whole. */
  readonly part: FilterPart | undefined;
  readonly blocked: BlockedScripts;
  readonly negativeCacheScripts: NegativeCacheScripts;
  readonly copyScripts: CopyScripts;
  readonly lostLeases: LostLeases;
  readonly copyWaits: CopyWaits;
}
