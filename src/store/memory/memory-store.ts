import { BloomConfigError } from '../../common/index.js';
import { blocked, type IdKey } from '../../filter/index.js';
import type { StoredFilter, FilterStore, OpenFilterOptions } from '../index.js';
import { InMemoryBlockedFilter, opensInMemory } from './in-memory-filter.js';
import { layoutNotInMemory } from './memory.messages.js';
import { StoredFilterInMemory } from './stored-filter-in-memory.js';

/** A filter whose integers of a range can be removed, in the live generation and in the staged one. */
class BlockedFilterInMemory extends StoredFilterInMemory<InMemoryBlockedFilter> {
  async remove(ids: readonly IdKey[]): Promise<boolean[]> {
    return ids.map((id) => {
      this.staging?.removeKey(id);
      const isRemoved = this.live?.filter.removeKey(id) ?? false;
      if (isRemoved) this.added--;
      return isRemoved;
    });
  }
}

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements FilterStore {
  readonly kind = 'memory';

  open(options: OpenFilterOptions): StoredFilter {
    const { name, layout } = options;
    if (layout.kind === blocked.kind) {
      return new BlockedFilterInMemory(options, (plan) => new InMemoryBlockedFilter(plan));
    }
    if (opensInMemory(layout)) return layout.openInMemory(options);
    throw new BloomConfigError(layoutNotInMemory(name, layout.kind));
  }

  async close(): Promise<void> {}
}
