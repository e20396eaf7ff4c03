export type { InMemoryFilter, InMemoryScan, MemoryLayout } from './in-memory-filter.js';
export { MemoryStore } from './memory-store.js';
export { StoredFilterInMemory } from './stored-filter-in-memory.js';
