export {
  BloomConfigError,
  BloomError,
  BloomFormatError,
  BloomFullError,
  BloomIdError,
} from '../common/index.js';
export type { BitFilter, FilterEstimate } from './bits/bit-filter.js';
export type { BitLayout } from './bits/bit-layout.js';
export type { Adopt, ForeignAdds, ForeignKeyOptions } from './bits/foreign-key.js';
export { BIT_ORDERS, type BitOrder, reorderBits } from './bits/bit-order.js';
export type { Demand, Geometry } from './bits/geometry.js';
export { countBits } from './bits/count-bits.js';
export { BlockedFilter, tooLong } from './blocked-filter.js';
export { BlockedLayout } from './blocked-layout.js';
export { anyOf, passRate } from './error-model.js';
export { measuredErrorRate, measuredErrorRateOf, sampledBlocks } from './fill.js';
export { type FilterShape, shapeOf } from './filter-shape.js';
export { BLOCKED_LAYOUT, createGeneration, type Generation } from './generation.js';
export { HalfSipHash } from './half-sip-hash.js';
export {
  type BloomId,
  idKeyText,
  type IdKey,
  idNote,
  isLongerThan,
  MAX_ID_BYTES_LIMIT,
  ownText,
  toIdKey,
} from './id.js';
export { checkLayoutOptions } from './layout-options.js';
export {
  type BlockedStoredLayout,
  checkStoredLayout,
  hasFixedSize,
  isMadeByOthers,
  storedBytes,
  type StoredLayout,
} from './stored-layout.js';
export {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  type FilterPlan,
  MAX_BLOCKS,
  modelledErrorRate,
  TAG_BYTES,
} from './sizing.js';
export { cuckoo } from './cuckoo/cuckoo.js';
export type { CuckooEstimate, CuckooFilter } from './cuckoo/cuckoo-filter.js';
export type { CuckooState } from './cuckoo/cuckoo-header.js';
export type { CuckooLayout } from './cuckoo/cuckoo-layout.js';
export type { CuckooStoredLayout } from './cuckoo/cuckoo-stored-layout.js';
export type { CuckooDemand, CuckooGeometry, CuckooSettings } from './cuckoo/cuckoo-size.js';
export { goZero, type GoZeroOptions } from './go-zero/go-zero.js';
export type { GoZeroStoredLayout } from './go-zero/go-zero-stored-layout.js';
export type { GoZeroFilter } from './go-zero/go-zero-filter.js';
export type { GoZeroLayout } from './go-zero/go-zero-layout.js';
export type { CustomFunnel, GuavaFunnel } from './guava/funnel.js';
export { guava } from './guava/guava.js';
export type { GuavaFilter } from './guava/guava-filter.js';
export {
  GUAVA_STRATEGIES,
  type GuavaLayout,
  type GuavaSettings,
  type GuavaStrategy,
} from './guava/guava-layout.js';
export type { GuavaStoredLayout } from './guava/guava-stored-layout.js';
export type { GuavaDemand } from './guava/guava-size.js';
export type { ByteSink, LoneSurrogate } from './id/byte-sink.js';
export { integer, lowerCase, nfc, uuid } from './id/spellings.js';
export { LAYOUT_NUMBERS, type LayoutKind } from './layout-numbers.js';
export {
  expectedErrorRate,
  type LayoutChoice,
  type LayoutPlan,
  planFilter,
  type PlanOptions,
} from './plan.js';
export { redisBloom } from './redisbloom/redisbloom.js';
export type { RedisBloomChunk } from './redisbloom/dump-chunks.js';
export type { RedisBloomFilter } from './redisbloom/redisbloom-filter.js';
export type { RedisBloomLayout } from './redisbloom/redisbloom-layout.js';
export type { RedisBloomStoredLayout } from './redisbloom/redisbloom-stored-layout.js';
export type { LinkState } from './redisbloom/redisbloom-link.js';
export type { LinkDemand, LinkGeometry, RedisBloomDemand } from './redisbloom/redisbloom-size.js';
export { redisson } from './redisson/redisson.js';
export type { RedissonCodec, RedissonSettings, RedissonType } from './redisson/codec.js';
export type { RedissonConfig } from './redisson/redisson-config.js';
export type { RedissonDump, RedissonFilter } from './redisson/redisson-filter.js';
export type { RedissonLayout } from './redisson/redisson-layout.js';
export type { RedissonStoredLayout } from './redisson/redisson-stored-layout.js';
export { ScalableFilter, type ScalableFilterOptions, type ScalableLayer } from './scaling/scalable-filter.js';
export {
  stackErrorRate,
  planLayer,
  planLayerWithin,
  type ScalingDemand,
  type ScalingOptions,
} from './scaling/scaling-plan.js';
export { spring } from './spring/spring.js';
export type { SpringFilter } from './spring/spring-filter.js';
export type { SpringFunnel, SpringLayout, SpringSettings } from './spring/spring-layout.js';
export { springStoredSize, type SpringStoredLayout } from './spring/spring-stored-layout.js';
