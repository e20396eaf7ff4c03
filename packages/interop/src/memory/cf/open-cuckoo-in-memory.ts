import type { CuckooLayoutOptions } from '../../formats/index.js';
import type { OpenFilterOptions, StoredFilter } from 'nestjs-bloom/store';
import { InMemoryCuckooFilter } from './in-memory-cuckoo-filter.js';
import { RemovableFilterInMemory } from './removable-filter-in-memory.js';

export function openCuckooInMemory(context: OpenFilterOptions, options: CuckooLayoutOptions): StoredFilter {
  return new RemovableFilterInMemory(context, (plan) => new InMemoryCuckooFilter(plan, options));
}
