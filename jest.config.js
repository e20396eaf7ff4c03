import { availableParallelism } from 'node:os';

/** @type {import('jest').Config} */
export default {
  testEnvironment: '<rootDir>/test/support/fast-environment.mjs',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/test/support/quiet-console.ts', '<rootDir>/test/support/second-run.ts'],
  roots: ['<rootDir>/test', '<rootDir>/packages', '<rootDir>/verification', '<rootDir>/sample-app'],
  testMatch: ['**/*.spec.ts'],
  // "npm run test:slow" runs those.
  testPathIgnorePatterns: ['/node_modules/', '\\.slow\\.spec\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^nestjs-bloom$': '<rootDir>/src/index.ts',
    '^nestjs-bloom/(filter|internal|store|sources)$': '<rootDir>/src/$1-entry.ts',
    '^nestjs-bloom/(integrations|testing|testing/store)$': '<rootDir>/src/$1/index.ts',
    '^@nestjs-bloom/([^/]+)/([^/]+)$': '<rootDir>/packages/$1/src/$2/index.ts',
    '^@nestjs-bloom/([^/]+)$': '<rootDir>/packages/$1/src/index.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  // No limit of what a test proves: on a machine that is busy one takes many times as long as alone.
  testTimeout: 240_000,
  // The tests wait for servers more than they compute.
  maxWorkers: availableParallelism() + 1,
};
