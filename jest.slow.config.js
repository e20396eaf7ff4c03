import config from './jest.config.js';

/**
 * Tests that measure for long, such as error rates over millions of lookups. @type {import('jest').Config}
 */
export default {
  ...config,
  testMatch: ['**/*.slow.spec.ts'],
  testTimeout: 600_000,
  testPathIgnorePatterns: ['/node_modules/'],
};
