import { expect } from '@jest/globals';
import fc from 'fast-check';
import { BloomFullError, type BloomId } from 'nestjs-bloom/filter';
import { planLayer, ScalableFilter, type ScalingTarget } from '../../src/scaling/index.js';

const anyTarget: fc.Arbitrary<ScalingTarget> = fc.record({
  capacity: fc.integer({ min: 1, max: 200 }),
  errorRate: fc.double({ min: 1e-4, max: 0.3, noNaN: true }),
  scaling: fc.record({
    expansion: fc.integer({ min: 1, max: 4 }),
    tightening: fc.double({ min: 0.1, max: 0.95, noNaN: true }),
  }),
});

/** Plans of all layers up to this many. */
export function layersOf(target: ScalingTarget, most: number) {
  const plans = [];
  for (let index = 0; index < most; index++) {
    const plan = planLayer(target, index);
    if (plan === undefined) break;
    plans.push(plan);
  }
  return plans;
}

const anyId = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.uint8Array({ minLength: 1, maxLength: 20 }),
  fc.maxSafeInteger(),
  fc.bigInt(),
);

/** The error rates of all layers are within the one asked for, all together. */
export function expectRatesWithin(numRuns: number): void {
  fc.assert(
    fc.property(anyTarget, (target) => {
      const plans = layersOf(target, 40);
      const sum = plans.reduce((total, { errorRate }) => total + errorRate, 0);
      expect(sum).toBeLessThanOrEqual(target.errorRate * (1 + 1e-12));
      expect(plans.reduce((total, plan) => total + plan.modelledErrorRate, 0)).toBeLessThan(target.errorRate);
    }),
    { numRuns },
  );
}

/** No id that was added is denied, and each is counted once. */
export function expectNoneDenied(numRuns: number): void {
  fc.assert(
    fc.property(anyTarget, fc.array(anyId, { maxLength: 300 }), (target, ids) => {
      const filter = new ScalableFilter(target);
      const taken: BloomId[] = [];
      let added = 0;
      for (const id of ids) {
        const wasThere = filter.mightContain(id);
        try {
          expect(filter.add(id)).toBe(!wasThere);
        } catch (error) {
          // Some demands allow for a few layers only.
          if (!(error instanceof BloomFullError)) throw error;
          expect(filter.mightContain(id)).toBe(false);
          break;
        }
        expect(filter.add(id)).toBe(false);
        taken.push(id);
        if (!wasThere) added++;
      }
      for (const id of taken) expect(filter.mightContain(id)).toBe(true);
      expect(filter.ids).toBe(added);
      for (const { ids: held, plan } of filter.describe()) expect(held).toBeLessThanOrEqual(plan.capacity);
    }),
    { numRuns },
  );
}
