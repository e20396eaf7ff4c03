export { openCuckooInMemory } from './open-cuckoo-in-memory.js';
