import { describe, it } from '@jest/globals';
import { expectNoneDenied, expectRatesWithin } from './growing-properties.js';

describe('A filter that grows', () => {
  it('has layers whose error rates are within the one asked for, all together', () => expectRatesWithin(40));

  it('never denies an id that was added, and counts it once', () => expectNoneDenied(100));
});
