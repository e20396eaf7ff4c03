export type { BloomFilter, BloomFilterInfo } from './bloom-filter.js';
export { BloomService } from './bloom.service.js';
export {
  type BloomFilterOptions,
  type BloomRebuildSchedule,
  defineFilter,
  type FilterDefinition,
} from './filter-options.js';
export { type FilterSurroundings, ManagedFilter } from './managed-filter.js';
