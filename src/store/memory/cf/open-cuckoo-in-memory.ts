import type { CuckooLayoutOptions } from '../../../filter/peers/index.js';
import type { OpenFilterOptions, StoredFilter } from '../../index.js';
import { InMemoryCuckooFilter } from './in-memory-cuckoo-filter.js';
import { RemovableFilterInMemory } from './removable-filter-in-memory.js';

export function openCuckooInMemory(context: OpenFilterOptions, options: CuckooLayoutOptions): StoredFilter {
  return new RemovableFilterInMemory(context, (plan) => new InMemoryCuckooFilter(plan, options));
}
