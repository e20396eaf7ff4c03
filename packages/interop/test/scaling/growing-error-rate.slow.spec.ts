import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cuckoo } from '../../src/index.js';
import { scaling as scalingLayout } from '../../src/scaling/index.js';
import { OutsideJest } from '../../../../test/support/outside-jest.js';
import { SEED } from '../../../../test/support/random.js';
import type { GrowthRates } from './growing-filters.js';

let thread: OutsideJest;

beforeAll(async () => {
  thread = await OutsideJest.load('packages/interop/test/scaling/growing-filters');
});
afterAll(() => thread.close());

// One standard deviation of a count of 5,000 is 1.4 %.
const HITS = 5_000;

describe(`The error rate of stacked filters (SEED=${SEED})`, () => {
  it.each([
    { growth: 10, errorRate: 0.01, scaling: undefined },
    { growth: 100, errorRate: 0.01, scaling: undefined },
    { growth: 100, errorRate: 0.01, scaling: { expansion: 4, tightening: 0.5 } },
    { growth: 10, errorRate: 0.01, scaling: { expansion: 1, tightening: 0.9 } },
    { growth: 10, errorRate: 0.001, scaling: undefined },
  ])(
    'that grew to $growth times their capacity is that of the model, and within $errorRate',
    async ({ growth, errorRate, scaling }) => {
      const target = { capacity: 1000, errorRate, scaling };
      const ids = 1000 * growth;
      const rates = await thread.call<GrowthRates>('measureScaling', { target, ids, hits: HITS, seed: SEED });
      expect(Math.abs(rates.measured / rates.modelled - 1)).toBeLessThan(0.06);
      expect(rates.measured).toBeLessThan(errorRate);
      const plan = scalingLayout.plan({ capacity: 1000, errorRate, ...scaling });
      expect(Math.abs(scalingLayout.expectedErrorRate(plan, ids) / rates.modelled - 1)).toBeLessThan(0.02);
    },
  );
});

describe(`The error rate of cuckoo filters (SEED=${SEED})`, () => {
  it.each([
    { capacity: 4096, bucketSize: 1, expansion: 1 },
    { capacity: 8192, bucketSize: 2, expansion: 1 },
    { capacity: 4096, bucketSize: 4, expansion: 1 },
    { capacity: 2048, bucketSize: 8, expansion: 2 },
  ])('of %j is that of the model, in one table and in several', async (target) => {
    const planned = cuckoo.plan({ ...target, capacity: 100, errorRate: 0.01 });
    const plan = { ...planned, bits: target.capacity * 8 };
    for (const load of [0.4, 2, 5]) {
      const ids = Math.round(load * target.capacity);
      const rates = await thread.call<GrowthRates>('measureCuckoo', { target, ids, hits: HITS, seed: SEED });
      expect(Math.abs(rates.measured / rates.modelled - 1)).toBeLessThan(0.06);
      // Which tables hold the ids does not matter where all are of one size; else the plan takes the worst
      // case.
      const expected = cuckoo.expectedErrorRate(plan, ids) / rates.modelled;
      expect(expected).toBeGreaterThan(0.99);
      expect(expected).toBeLessThan(target.expansion === 1 ? 1.01 : 1.1);
    }
  });

  it('in tables of few buckets is a little above that of the model', async () => {
    const target = { capacity: 16, bucketSize: 2 };
    const rates = await thread.call<GrowthRates>('measureCuckoo', {
      target,
      ids: 10,
      hits: HITS,
      seed: SEED,
    });
    expect(rates.measured / rates.modelled).toBeGreaterThan(0.97);
    expect(rates.measured / rates.modelled).toBeLessThan(1.12);
  });
});
