import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import type { BloomFilterOptions } from 'nestjs-bloom';
import { defineFilter } from '../../../../src/service/index.js';
import { redisBloom } from '../../src/index.js';

const options: BloomFilterOptions = { name: 'products', capacity: 1000 };
const layoutOf = (given: object) => redisBloom(given);

describe('The layout redisbloom', () => {
  it.each([
    {},
    { key: 'shop:products' },
    { key: 'shop:products', adopt: 'explicit' },
    { expansion: 1 },
    { nonScaling: true },
    { nonScaling: false, expansion: 4 },
  ])('may be %j', (given) => {
    const layout = layoutOf(given);
    expect(defineFilter({ ...options, layout }).layout).toBe(layout);
  });

  it.each([
    [{ key: 'shop:products', adopt: 'never' }, /adopt to be 'first-sight' or 'explicit', got 'never'/],
    [{ adopt: 'explicit' }, /redisBloom\(\): expected no adopt without a key, got 'explicit'/],
    [{ expansion: 0 }, /expansion to be at least 1, got 0/],
    [{ expansion: 2, nonScaling: true }, /Leave one out/],
    [{ expansion: 40_000 }, /expansion to be an integer from 0 to 32768, got 40000/],
    [{ expansion: '2' }, /expansion to be an integer/],
    [{ nonScaling: 'yes' }, /nonScaling to be true or false, got 'yes'/],
    [{ key: '' }, /redisBloom\(\): expected key to be the name of a key, got ''/],
    [{ key: 7 }, /redisBloom\(\): expected key to be the name of a key, got 7/],
  ])('may not be %j', (given, message) => {
    const define = () => defineFilter({ ...options, layout: layoutOf(given) });
    expect(define).toThrow(BloomConfigError);
    expect(define).toThrow(message);
  });

  it('holds no more ids than BF.RESERVE takes', () => {
    expect(() => defineFilter({ ...options, layout: layoutOf({}), capacity: 2 ** 31 })).toThrow(
      /capacity to be an integer from 1 to 1073741824/,
    );
  });
});
