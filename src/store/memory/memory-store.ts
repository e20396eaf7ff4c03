import type { BloomFilterStore, BloomStore, OpenFilterOptions } from '../index.js';
import { MemoryFilterStore } from './memory-filter-store.js';

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements BloomStore {
  readonly kind = 'memory';

  open({ clock }: OpenFilterOptions): BloomFilterStore {
    return new MemoryFilterStore(clock);
  }

  async close(): Promise<void> {}
}
