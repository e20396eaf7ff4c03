import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomConfigError } from '../../src/common/index.js';
import {
  BLOCK_BYTES,
  BLOCK_DATA_BITS,
  MAX_BLOCKS,
  modelledErrorRate,
  planFilter,
} from '../../src/filter/index.js';

/** What a plan aims at, as a share of the error rate asked for. */
const AIM = 0.98;

/** The chance of an absent id to pass, by the exact distribution of set bits instead of its moments. */
function exactErrorRate({ hashCount, idsPerBlock }: { hashCount: number; idsPerBlock: number }): number {
  const most = Math.ceil(idsPerBlock + 12 * Math.sqrt(idsPerBlock) + 20);
  let chanceOfIds = Math.exp(-idsPerBlock);
  let errorRate = 0;
  const chanceOfBits = new Float64Array(BLOCK_DATA_BITS + 1);
  chanceOfBits[0] = 1;
  for (let ids = 1; ids <= most; ids++) {
    for (let bit = 0; bit < hashCount; bit++)
      throwOneBit(chanceOfBits, Math.min(ids * hashCount, BLOCK_DATA_BITS));
    chanceOfIds *= idsPerBlock / ids;
    const passes = chanceOfBits.reduce(
      (sum, chance, bits) => sum + chance * (bits / BLOCK_DATA_BITS) ** hashCount,
      0,
    );
    errorRate += chanceOfIds * passes;
  }
  return errorRate + idsPerBlock / 2 ** 32;
}

function throwOneBit(chances: Float64Array, most: number): void {
  for (let bits = most; bits > 0; bits--) {
    chances[bits] =
      (chances[bits]! * bits) / BLOCK_DATA_BITS +
      (chances[bits - 1]! * (BLOCK_DATA_BITS - bits + 1)) / BLOCK_DATA_BITS;
  }
  chances[0] = 0;
}

/** Capacities and error rates spread evenly over their orders of magnitude. */
const wishes = fc.record({
  capacity: fc.double({ min: 0, max: 6.5, noNaN: true }).map((exponent) => Math.round(10 ** exponent)),
  errorRate: fc.double({ min: -6, max: Math.log10(0.5), noNaN: true }).map((exponent) => 10 ** exponent),
});

describe('The model of the error rate', () => {
  it.each([
    { hashCount: 1, idsPerBlock: 20 },
    { hashCount: 3, idsPerBlock: 400 },
    { hashCount: 7, idsPerBlock: 100 },
    { hashCount: 7, idsPerBlock: 206 },
    { hashCount: 10, idsPerBlock: 137 },
    { hashCount: 13, idsPerBlock: 101 },
    { hashCount: 19, idsPerBlock: 60 },
  ])('agrees with the exact distribution: k = $hashCount, $idsPerBlock ids in a block', (load) => {
    expect(modelledErrorRate(load) / exactErrorRate(load)).toBeCloseTo(1, 2);
  });

  it('grows with the load', () => {
    const load = fc.double({ min: 0.1, max: 2_000, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 24 }), load, (hashCount, idsPerBlock) => {
        const more = modelledErrorRate({ hashCount, idsPerBlock: idsPerBlock * 1.1 });
        expect(more).toBeGreaterThan(modelledErrorRate({ hashCount, idsPerBlock }));
      }),
      { numRuns: 50 },
    );
  });
});

describe('A plan', () => {
  it('keeps the error rate', () => {
    fc.assert(
      fc.property(wishes, (wish) => {
        const plan = planFilter(wish);
        const { hashCount } = plan;
        expect(plan).toMatchObject(wish);
        expect(plan.modelledErrorRate).toBe(
          modelledErrorRate({ hashCount, idsPerBlock: wish.capacity / plan.blocks }),
        );
        expect(plan.modelledErrorRate).toBeLessThanOrEqual(wish.errorRate * AIM);
      }),
      { numRuns: 30 },
    );
  });

  it('has no block too many, and neither k - 1 nor k + 1 would do with fewer', () => {
    fc.assert(
      fc.property(wishes, ({ capacity, errorRate }) => {
        const { blocks, hashCount } = planFilter({ capacity, errorRate });
        fc.pre(blocks > 1);
        for (const k of [hashCount - 1, hashCount, hashCount + 1].filter((count) => count > 0)) {
          const withFewer = modelledErrorRate({ hashCount: k, idsPerBlock: capacity / (blocks - 1) });
          // The load of a block is found to seven digits.
          expect(withFewer).toBeGreaterThan(errorRate * AIM * (1 - 1e-5));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('never shrinks when more ids or fewer errors are asked for', () => {
    fc.assert(
      fc.property(wishes, ({ capacity, errorRate }) => {
        const { blocks } = planFilter({ capacity, errorRate });
        expect(planFilter({ capacity: capacity + 1_000, errorRate }).blocks).toBeGreaterThanOrEqual(blocks);
        expect(
          planFilter({ capacity, errorRate: Math.max(1e-6, errorRate / 2) }).blocks,
        ).toBeGreaterThanOrEqual(blocks);
      }),
      { numRuns: 15 },
    );
  });

  it.each([1e-2, 1e-3, 1e-4])(
    'costs at most 6 %% more bits than an unblocked filter for an error rate of %d',
    (errorRate) => {
      const textbook = -Math.log(errorRate) / Math.LN2 ** 2;
      const { bitsPerId } = planFilter({ capacity: 1_000_000, errorRate });
      expect(bitsPerId / textbook).toBeGreaterThan(1);
      expect(bitsPerId / textbook).toBeLessThanOrEqual(1.06);
    },
  );

  it('tells its size in bytes and in bits for an id', () => {
    const { blocks, bytes, bitsPerId } = planFilter({ capacity: 50_000, errorRate: 1e-3 });
    expect(bytes).toBe(blocks * BLOCK_BYTES);
    expect(bitsPerId).toBe((bytes * 8) / 50_000);
  });

  it('of one id is one block', () => {
    expect(planFilter({ capacity: 1, errorRate: 1e-3 }).blocks).toBe(1);
  });

  it('goes up to 4 GiB and not beyond', () => {
    const { bitsPerId } = planFilter({ capacity: 1e9, errorRate: 1e-3 });
    const most = Math.floor((MAX_BLOCKS * BLOCK_BYTES * 8) / bitsPerId);
    expect(planFilter({ capacity: Math.floor(most * 0.999), errorRate: 1e-3 }).blocks).toBeLessThanOrEqual(
      MAX_BLOCKS,
    );
    expect(() => planFilter({ capacity: Math.ceil(most * 1.001), errorRate: 1e-3 })).toThrow(
      BloomConfigError,
    );
    expect(() => planFilter({ capacity: Number.MAX_SAFE_INTEGER, errorRate: 1e-3 })).toThrow(
      /the limit is 4294967296/,
    );
  });

  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 53])('refuses a capacity of %d', (capacity) => {
    expect(() => planFilter({ capacity, errorRate: 1e-3 })).toThrow(BloomConfigError);
    expect(() => planFilter({ capacity, errorRate: 1e-3 })).toThrow(
      `positive integer (the number of ids to hold), got ${capacity}`,
    );
  });

  it.each([0, -0.1, 1e-7, 0.51, 1, NaN])('refuses an error rate of %d', (errorRate) => {
    expect(() => planFilter({ capacity: 100, errorRate })).toThrow(BloomConfigError);
    expect(() => planFilter({ capacity: 100, errorRate })).toThrow(`got ${errorRate}`);
  });
});
