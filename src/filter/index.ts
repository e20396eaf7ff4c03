export {
  BloomConfigError,
  BloomError,
  BloomFormatError,
  BloomFullError,
  BloomIdError,
} from '../common/index.js';
export { blocked } from './blocked.js';
export { BlockedFilter } from './blocked-filter.js';
export { BlockedLayout } from './blocked-layout.js';
export { BlockedWindow } from './blocked-window.js';
export { generationOf, type IntegerRange, planExact } from './exact.js';
export { integerOfText, layoutOf } from './exact-layout.js';
export { countBits } from './count-bits.js';
export { RegionFilter } from './region-filter.js';
export { type IdRun, type RegionsModule, regionsModule, tableOf } from './regions-module.js';
export { checkInteger, checkTarget, type FilterTarget } from './filter-target.js';
export { anyError, falsePositiveRate } from './error-model.js';
export {
  type FilterFill,
  isCrowded,
  isOutgrown,
  measuredFill,
  measuredFillOf,
  sampledBlocks,
  stackFillRatio,
} from './fill.js';
export { type FilterShape, shapeOf } from './filter-shape.js';
export {
  BLOCKED_LAYOUT,
  createGeneration,
  EXACT_LAYOUT,
  type Generation,
  type GenerationPlan,
  type GenerationRange,
} from './generation.js';
export { ROUNDED, scopeOfUnscoped, wrongErrorRate } from './filter.messages.js';
export { HalfSipHash } from './half-sip-hash.js';
export {
  assertNotTooLong,
  type BloomId,
  type BloomScope,
  idKeyText,
  type IdKey,
  idNote,
  hasMoreDigits,
  isLongerThan,
  isRounded,
  MAX_ID_BYTES_LIMIT,
  ownText,
  toIdKey,
  tooLong,
} from './id.js';
export { type BloomLayout, type FilterLayout, isFilterLayout } from './layout.js';
export { partitionedLayout } from './partitioned-layout.js';
export { MOST_PARTS, partCapacity, partOf, partOfBytes } from './parts.js';
export { expectedErrorRate, planFilter } from './plan.js';
export {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  type FilterPlan,
  MAX_BLOCKS,
  MIN_ERROR_RATE,
  modelledErrorRate,
  planBlocked,
  TAG_BYTES,
} from './sizing.js';
export { type BloomNormalizeName, namedNormalizer, NORMALIZERS } from './named-spellings.js';
export { normalizeScoped, scopedBy, scopedId } from './scoped-id.js';
export { spellingPrint } from './spelling-print.js';
export { integer, lowerCase, nfc, objectId, padded, uuid } from './spellings.js';
