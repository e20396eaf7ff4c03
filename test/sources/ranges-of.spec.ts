import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BloomConfigError, rangesOf } from '../../src/index.js';

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const bounds = fc
  .tuple(fc.bigInt({ min: LEAST, max: MOST }), fc.bigInt({ min: LEAST, max: MOST }))
  .map(([a, b]) => (a < b ? [a, b] : [b, a]) as [bigint, bigint]);

describe('rangesOf', () => {
  it('has every integer of 64 bits in exactly one range', () => {
    fc.assert(
      fc.property(bounds, fc.integer({ min: 1, max: 40 }), ([from, to], count) => {
        const ranges = rangesOf(from, to, count);
        expect([ranges[0]!.least, ranges.at(-1)!.most]).toEqual([LEAST, MOST]);
        for (const { least, most } of ranges) expect(least).toBeLessThanOrEqual(most);
        ranges.slice(1).forEach(({ least }, i) => expect(least).toBe(ranges[i]!.most + 1n));
      }),
    );
  });

  it('deals the values from the least to the most evenly', () => {
    expect(rangesOf(1, 10, 3)).toEqual([
      { least: LEAST, most: 3n },
      { least: 4n, most: 6n },
      { least: 7n, most: MOST },
    ]);
    expect(rangesOf(1n, 40_000_000, 1)).toEqual([{ least: LEAST, most: MOST }]);
  });

  it('gives fewer ranges where there are fewer values', () => {
    expect(rangesOf(5, 5, 4)).toHaveLength(1);
    expect(rangesOf(5, 7, 4)).toHaveLength(3);
  });

  it.each([
    [10, 1, 2],
    [1.5, 2, 2],
    ['1', 2, 2],
    [1, 2n ** 63n, 2],
    [1, 2, 0],
    [1, 2, 1.5],
    [1, 2, 1001],
    [1, undefined, 2],
  ])('refuses %p, %p, %p', (least, most, count) => {
    expect(() => rangesOf(least as number, most as number, count)).toThrow(BloomConfigError);
  });
});
