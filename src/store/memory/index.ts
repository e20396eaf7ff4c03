export type { InMemoryFilter, InMemoryScan } from './in-memory-filter.js';
export type { MemoryLayout } from './memory-layout.js';
export { MemoryStore } from './memory-store.js';
export { StoredFilterInMemory } from './stored-filter-in-memory.js';
