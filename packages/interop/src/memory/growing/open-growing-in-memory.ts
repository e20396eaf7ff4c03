import type { ScalingOptions } from '../../growing/index.js';
import type { OpenFilterOptions, StoredFilter } from 'nestjs-bloom/store';
import { StoredFilterInMemory } from 'nestjs-bloom/internal';
import { InMemoryGrowingFilter } from './in-memory-growing-filter.js';

export function openGrowingInMemory(context: OpenFilterOptions, scaling: ScalingOptions): StoredFilter {
  return new StoredFilterInMemory(context, (plan) => new InMemoryGrowingFilter(plan, scaling));
}
