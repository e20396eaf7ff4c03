export { BloomTestingModule, type BloomTestingOptions, type TestingBuilder } from './bloom-testing.module.js';
export type { BloomTestIds } from './tested-filters.js';
