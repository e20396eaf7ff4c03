import { BloomConfigError } from '../../common/index.js';
import { blocked } from '../../filter/index.js';
import type { StoredFilter, FilterStore, OpenFilterOptions } from '../index.js';
import { InMemoryBlockedFilter, opensInMemory } from './in-memory-filter.js';
import { layoutNotInMemory } from './memory.messages.js';
import { StoredFilterInMemory } from './stored-filter-in-memory.js';

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements FilterStore {
  readonly kind = 'memory';

  open(options: OpenFilterOptions): StoredFilter {
    const { name, layout } = options;
    if (layout.kind === blocked.kind) {
      return new StoredFilterInMemory(options, (plan) => new InMemoryBlockedFilter(plan));
    }
    if (opensInMemory(layout)) return layout.openInMemory(options);
    throw new BloomConfigError(layoutNotInMemory(name, layout.kind));
  }

  async close(): Promise<void> {}
}
