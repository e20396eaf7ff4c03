import type { BloomLayout, FilterTarget } from '../filter/index.js';
import {
  checkCuckooOptions,
  cuckooCodec,
  type CuckooLayoutOptions,
  LAYOUT_NUMBERS,
} from '../filter/peers/index.js';
import { openCuckooInMemory } from '../store/memory/cf/index.js';
import type { MemoryLayout } from '../store/memory/index.js';
import { openCf } from '../store/redis/cf/index.js';
import type { RedisLayout } from '../store/redis/index.js';

/**
 * The layout of filters from which ids can be removed, in memory or with the commands `CF.*` of Redis 8 and Redis Stack. Its members make
 * and read such filters in memory.
 *
 * @throws {BloomConfigError} for an option that cannot work, or that it does not have.
 */
export const cuckoo = Object.assign(function cuckoo(options: CuckooLayoutOptions = {}): BloomLayout {
  checkCuckooOptions(options);
  return cuckooLayout(options);
}, cuckooCodec);

function cuckooLayout(options: CuckooLayoutOptions): MemoryLayout & RedisLayout {
  const bytes = ({ capacity, errorRate }: FilterTarget) =>
    cuckooCodec.plan({ ...options, capacity, errorRate }).bytes;
  return {
    kind: 'cuckoo',
    number: LAYOUT_NUMBERS.cuckoo,
    hasFixedSize: false,
    isMadeByOthers: false,
    waitsForAdopt: false,
    grows: false,
    canRemove: true,
    claimedKey: undefined,
    check: (use) => void bytes(use),
    bytes,
    openInMemory: (context) => openCuckooInMemory(context, options),
    openRedis: (context) => openCf(context, options),
  };
}
