export type { BloomId, FilterTarget } from 'nestjs-bloom/filter';
export type { BloomLayout } from 'nestjs-bloom/store';
export type { Adopt, ForeignAdds, PeerKeyOptions } from './formats/key-options.js';
export type { CustomFunnel, GuavaFunnel } from './formats/guava-funnel.js';
export { BIT_ORDERS, type BitOrder, reorderBits } from './formats/bitmap.js';
export type { BitmapFilter, BitmapLayout, FilterEstimate, Geometry } from './formats/bitmap-filter.js';
export type { ByteSink, LoneSurrogate } from './formats/byte-sink.js';
export type { CuckooGeometry, CuckooLayout, CuckooSettings, CuckooTarget } from './formats/cuckoo-layout.js';
export type { CuckooEstimate, CuckooFilter } from './formats/cuckoo-filter.js';
export type { CuckooLayoutOptions } from './formats/cuckoo-codec.js';
export type { CuckooState } from './formats/cuckoo-table.js';
export {
  guava,
  GUAVA_STRATEGIES,
  type GuavaFilter,
  type GuavaLayout,
  type GuavaLayoutOptions,
  type GuavaSettings,
  type GuavaStrategy,
  type GuavaTarget,
} from './formats/guava.js';
export {
  goZero,
  type GoZeroFilter,
  type GoZeroLayout,
  type GoZeroLayoutOptions,
  type GoZeroOptions,
} from './formats/go-zero.js';
export { LAYOUT_NUMBERS, type LayoutKind } from './formats/layout-numbers.js';
export type { LayoutPlan, LayoutPlanner } from './layout-plan.js';
export type {
  LinkGeometry,
  LinkState,
  LinkTarget,
  RedisBloomLayout,
  RedisBloomLayoutOptions,
  RedisBloomTarget,
} from './formats/redis-bloom-chain.js';
export type { RedisBloomChunk } from './formats/dump.js';
export type { RedisBloomFilter, RedisBloomGrowth } from './formats/redis-bloom-filter.js';
export type { RedissonCodec, RedissonSettings, RedissonType } from './formats/redisson-codec.js';
export {
  redisson,
  type RedissonDump,
  type RedissonFilter,
  type RedissonLayout,
  type RedissonLayoutOptions,
} from './formats/redisson.js';
export { cuckoo } from './formats/cuckoo.js';
export { redisBloom } from './formats/redis-bloom.js';
export type { RedissonConfig, RedissonGeometry } from './formats/redisson-config.js';
