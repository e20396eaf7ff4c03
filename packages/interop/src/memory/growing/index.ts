export { openGrowingInMemory } from './open-growing-in-memory.js';
