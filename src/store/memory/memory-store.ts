import type { BloomFilterStore, BloomStore, OpenFilterOptions } from '../index.js';
import { MemoryFilterStore } from './memory-filter-store.js';

/** Filters in the memory of this process: for one instance, for tests and for development. */
export class MemoryStore implements BloomStore {
  readonly kind = 'memory';

  open(options: OpenFilterOptions): BloomFilterStore {
    return new MemoryFilterStore(options);
  }

  async close(): Promise<void> {}
}
