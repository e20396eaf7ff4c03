export {
  BloomConfigError,
  BloomError,
  BloomFormatError,
  BloomFullError,
  BloomIdError,
} from '../common/index.js';
export type { BitFilter, FilterEstimate } from './peers/bits/bit-filter.js';
export type { BitLayout } from './peers/bits/bit-layout.js';
export type { Adopt, ForeignAdds, ForeignKeyOptions } from './peers/bits/foreign-key.js';
export { BIT_ORDERS, type BitOrder, reorderBits } from './peers/bits/bit-order.js';
export type { Demand, Geometry } from './peers/bits/geometry.js';
export { countBits } from './count-bits.js';
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
  hasMoreDigits,
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
export { cuckoo } from './peers/cuckoo/cuckoo.js';
export type { CuckooEstimate, CuckooFilter } from './peers/cuckoo/cuckoo-filter.js';
export type { CuckooState } from './peers/cuckoo/cuckoo-header.js';
export type { CuckooLayout } from './peers/cuckoo/cuckoo-layout.js';
export type { CuckooStoredLayout } from './peers/cuckoo/cuckoo-stored-layout.js';
export type { CuckooDemand, CuckooGeometry, CuckooSettings } from './peers/cuckoo/cuckoo-size.js';
export { goZero, type GoZeroOptions } from './peers/go-zero/go-zero.js';
export type { GoZeroStoredLayout } from './peers/go-zero/go-zero-stored-layout.js';
export type { GoZeroFilter } from './peers/go-zero/go-zero-filter.js';
export type { GoZeroLayout } from './peers/go-zero/go-zero-layout.js';
export type { CustomFunnel, GuavaFunnel } from './peers/guava/funnel.js';
export { guava } from './peers/guava/guava.js';
export type { GuavaFilter } from './peers/guava/guava-filter.js';
export {
  GUAVA_STRATEGIES,
  type GuavaLayout,
  type GuavaSettings,
  type GuavaStrategy,
} from './peers/guava/guava-layout.js';
export type { GuavaStoredLayout } from './peers/guava/guava-stored-layout.js';
export type { GuavaDemand } from './peers/guava/guava-size.js';
export type { ByteSink, LoneSurrogate } from './peers/id/byte-sink.js';
export { integer, lowerCase, nfc, objectId, padded, uuid } from './spellings.js';
export { LAYOUT_NUMBERS, type LayoutKind } from './peers/layout-numbers.js';
export {
  expectedErrorRate,
  type LayoutChoice,
  type LayoutPlan,
  planFilter,
  type PlanOptions,
} from './plan.js';
export { redisBloom } from './peers/redisbloom/redisbloom.js';
export type { RedisBloomChunk } from './peers/redisbloom/dump-chunks.js';
export type { RedisBloomFilter } from './peers/redisbloom/redisbloom-filter.js';
export type { RedisBloomLayout } from './peers/redisbloom/redisbloom-layout.js';
export type { RedisBloomStoredLayout } from './peers/redisbloom/redisbloom-stored-layout.js';
export type { LinkState } from './peers/redisbloom/redisbloom-link.js';
export type { LinkDemand, LinkGeometry, RedisBloomDemand } from './peers/redisbloom/redisbloom-size.js';
export { redisson } from './peers/redisson/redisson.js';
export type { RedissonCodec, RedissonSettings, RedissonType } from './peers/redisson/codec.js';
export type { RedissonConfig } from './peers/redisson/redisson-config.js';
export type { RedissonDump, RedissonFilter } from './peers/redisson/redisson-filter.js';
export type { RedissonLayout } from './peers/redisson/redisson-layout.js';
export type { RedissonStoredLayout } from './peers/redisson/redisson-stored-layout.js';
export { ScalableFilter, type ScalableFilterOptions, type ScalableLayer } from './scaling/scalable-filter.js';
export {
  stackErrorRate,
  planLayer,
  planLayerWithin,
  type ScalingDemand,
  type ScalingOptions,
} from './scaling/scaling-plan.js';
export { spring } from './peers/spring/spring.js';
export type { SpringFilter } from './peers/spring/spring-filter.js';
export type { SpringFunnel, SpringLayout, SpringSettings } from './peers/spring/spring-layout.js';
export { springStoredSize, type SpringStoredLayout } from './peers/spring/spring-stored-layout.js';
