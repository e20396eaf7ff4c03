export type { LayoutPlan, LayoutPlanner } from '../layout-plan.js';
export type { BitmapFilter, FilterEstimate } from './bitmap/bitmap-filter.js';
export type { BitmapLayout } from './bitmap/bitmap-layout.js';
export { BIT_ORDERS, type BitOrder, reorderBits } from './bitmap/bit-order.js';
export {
  type Adopt,
  checkRebuildOptions,
  type ForeignAdds,
  type PeerKeyOptions,
} from './options/key-options.js';
export type { Geometry } from './bitmap/geometry.js';
export { MAX_STRING_BITS, MIN_STRING_BITS } from './options/string-bits.js';
export { cuckooCodec } from './cuckoo/cuckoo.js';
export type { CuckooEstimate, CuckooFilter } from './cuckoo/cuckoo-filter.js';
export type { CuckooState } from './cuckoo/cuckoo-header.js';
export type { CuckooLayout } from './cuckoo/cuckoo-layout.js';
export { checkCuckooOptions, type CuckooLayoutOptions } from './cuckoo/cuckoo-options.js';
export type { CuckooTarget, CuckooGeometry, CuckooSettings } from './cuckoo/cuckoo-size.js';
export { goZeroCodec, type GoZeroOptions } from './go-zero/go-zero.js';
export type { GoZeroFilter } from './go-zero/go-zero-filter.js';
export type { GoZeroLayout } from './go-zero/go-zero-layout.js';
export { checkGoZeroOptions, type GoZeroLayoutOptions } from './go-zero/go-zero-options.js';
export type { CustomFunnel, GuavaFunnel } from './java/funnel.js';
export { guavaCodec } from './guava/guava.js';
export type { GuavaFilter } from './guava/guava-filter.js';
export {
  GUAVA_STRATEGIES,
  type GuavaLayout,
  type GuavaSettings,
  type GuavaStrategy,
} from './guava/guava-layout.js';
export { checkGuavaOptions, type GuavaLayoutOptions } from './guava/guava-options.js';
export { guavaStringBytes, type GuavaTarget } from './guava/guava-size.js';
export type { ByteSink, LoneSurrogate } from './id/byte-sink.js';
export { LAYOUT_NUMBERS, type LayoutKind } from './layout-numbers.js';
export type { RedisBloomChunk } from './dump/dump-chunks.js';
export { redisBloomCodec, type RedisBloomGrowth } from './redisbloom/redisbloom.js';
export type { RedisBloomFilter } from './redisbloom/redisbloom-filter.js';
export type { RedisBloomLayout } from './redisbloom/redisbloom-layout.js';
export type { LinkState } from './redisbloom/redisbloom-link.js';
export { checkRedisBloomOptions, type RedisBloomLayoutOptions } from './redisbloom/redisbloom-options.js';
export type { LinkTarget, LinkGeometry, RedisBloomTarget } from './redisbloom/redisbloom-size.js';
export type { RedissonCodec, RedissonSettings, RedissonType } from './redisson/codec.js';
export { redissonCodec } from './redisson/redisson.js';
export type { RedissonConfig, RedissonGeometry } from './redisson/redisson-config.js';
export type { RedissonDump, RedissonFilter } from './redisson/redisson-filter.js';
export type { RedissonLayout } from './redisson/redisson-layout.js';
export { checkRedissonOptions, type RedissonLayoutOptions } from './redisson/redisson-options.js';
