export type { MemoryLayout } from './memory-layout.js';
export { MemoryStore } from './memory-store.js';
