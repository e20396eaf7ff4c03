export type { BloomFilter, BloomFilterInfo, GuardableFilter } from './bloom-filter.js';
export { BloomService } from './bloom.service.js';
export { defineFilter, type FilterDefinition } from './filter-definition.js';
export type { BloomFilterOptions, BloomRebuildSchedule } from './filter-options.js';
export { type BloomGuardCounts, type BloomGuardMode, GuardState } from './guard-state.js';
export type { NegativeCacheOptions } from './negative-cache.js';
export { type FilterContext, ManagedFilter } from './managed-filter.js';
export { isOwnerName, OWNER_NAME } from './owner-name.js';
export type { WrongAbsentReport } from './wrong-absents.js';
