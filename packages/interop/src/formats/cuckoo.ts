import type { FilterTarget } from 'nestjs-bloom/filter';
import type { MemoryLayout, RedisLayout } from 'nestjs-bloom/internal';
import type { BloomLayout } from 'nestjs-bloom/store';
import { openCuckooInMemory } from '../memory/cuckoo-in-memory.js';
import { openCf } from '../redis/cf/open-cf.js';
import { checkCuckooOptions, cuckooCodec, type CuckooLayoutOptions } from './cuckoo-codec.js';
import { LAYOUT_NUMBERS } from './layout-numbers.js';

/**
 * The layout of filters from which ids can be removed, in memory or with the commands `CF.*` of Redis 8 and
 * Redis Stack. Its members make and read such filters in memory.
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
