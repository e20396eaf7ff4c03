/** What a store is opened with where a test does not care. */
export { contractOptions as openOptions } from '../../src/testing/store/index.js';
