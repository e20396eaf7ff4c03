import { BloomConfigError } from '../../common/index.js';
import type { StoredFilter, FilterStore, OpenFilterOptions } from '../index.js';
import { InMemoryBlockedFilter } from './in-memory-blocked-filter.js';
import { InMemoryCuckooFilter } from './in-memory-cuckoo-filter.js';
import { InMemoryGrowingFilter } from './in-memory-growing-filter.js';
import { RemovableFilterInMemory } from './removable-filter-in-memory.js';
import { StoredFilterInMemory } from './stored-filter-in-memory.js';

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements FilterStore {
  readonly kind = 'memory';

  open(options: OpenFilterOptions): StoredFilter {
    const { name, layout } = options;
    switch (layout.kind) {
      case 'blocked': {
        const { scaling } = layout;
        return new StoredFilterInMemory(options, (plan) =>
          scaling === undefined ? new InMemoryBlockedFilter(plan) : new InMemoryGrowingFilter(plan, scaling),
        );
      }
      case 'cuckoo':
        return new RemovableFilterInMemory(options, (plan) => new InMemoryCuckooFilter(plan, layout));
      default:
        throw new BloomConfigError(
          `Filter '${name}' has the layout ${layout.kind}, which is that of keys in Redis: give BloomModule.forRoot the option redis, or ` +
            "use the layout 'blocked'.",
        );
    }
  }

  async close(): Promise<void> {}
}
