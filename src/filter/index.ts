export { BlockedFilter, tooLong } from './blocked-filter.js';
export { BlockedLayout } from './blocked-layout.js';
export { BLOCKED_LAYOUT, createGeneration, type Generation } from './generation.js';
export { HalfSipHash } from './half-sip-hash.js';
export { type BloomId, idKeyText, type IdKey, MAX_ID_BYTES_LIMIT, toIdKey } from './id.js';
export {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  type FilterPlan,
  MAX_BLOCKS,
  modelledErrorRate,
  planFilter,
  TAG_BYTES,
} from './sizing.js';
