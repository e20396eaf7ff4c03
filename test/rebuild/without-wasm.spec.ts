import { expect, it } from '@jest/globals';
import { instantiateIfPossible } from '../../src/common/index.js';
import { readsRows } from '../../packages/postgres/test/plain-rows.js';
import { scansPacked } from './packed-scans.js';

// This file alone sees it: each has a global object and modules of its own.
Reflect.deleteProperty(globalThis, 'WebAssembly');

it('has no WebAssembly here', () => {
  expect(instantiateIfPossible('')).toBeUndefined();
});

scansPacked();
readsRows();
