import type { ScalingOptions } from '../../../filter/growing/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../index.js';
import { StoredFilterInMemory } from '../stored-filter-in-memory.js';
import { InMemoryGrowingFilter } from './in-memory-growing-filter.js';

export function openGrowingInMemory(context: OpenFilterOptions, scaling: ScalingOptions): StoredFilter {
  return new StoredFilterInMemory(context, (plan) => new InMemoryGrowingFilter(plan, scaling));
}
