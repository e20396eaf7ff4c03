import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import type { BloomLayout } from 'nestjs-bloom/store';
import { goZero, guava, redisson } from '../../src/index.js';
import { defineFilter } from '../../../../src/service/filter-definition.js';

/** What a string of Redis holds. */
const MOST_BYTES = 2 ** 29;
const MOST_BITS = 2 ** 32;
const ERROR_RATE = 0.001;

function start(layout: () => BloomLayout, capacity: number) {
  return () =>
    defineFilter({
      name: 'products',
      capacity,
      errorRate: ERROR_RATE,
      layout: layout(),
      maxBytes: 4 * MOST_BYTES,
    });
}

/** The most ids with which a filter starts. */
function mostIds(layout: () => BloomLayout): number {
  let [starts, fails] = [1, 2 ** 40];
  while (fails - starts > 1) {
    const middle = Math.floor((starts + fails) / 2);
    try {
      start(layout, middle)();
      starts = middle;
    } catch {
      fails = middle;
    }
  }
  return starts;
}

describe('The largest filter in one string of Redis', () => {
  it.each([
    ['guava', () => guava({ key: 'k', funnel: 'stringFunnel' }), 64, 6],
    ['redisson', () => redisson({ name: 'k', codec: 'StringCodec' }), 64, 0],
  ] as const)(
    'of layout %s fills it, and a start with one id more fails',
    (_, layout, lessBits, headBytes) => {
      const capacity = mostIds(layout);
      const definition = start(layout, capacity)();
      const bytes = definition.layout.bytes({ capacity, errorRate: ERROR_RATE });
      expect(bytes + headBytes).toBeLessThanOrEqual(MOST_BYTES);
      expect((bytes + headBytes) * 8).toBeGreaterThan(MOST_BITS - 2 * lessBits - 8 * headBytes);
      expect(start(layout, capacity + 1)).toThrow(BloomConfigError);
      expect(start(layout, capacity + 1)).toThrow(/Expected|expected/);
    },
  );

  it('of layouts whose bits are given has no more than 2^32 of them', () => {
    expect(start(() => goZero({ key: 'k', bits: MOST_BITS }), 1)).not.toThrow();
    expect(start(() => goZero({ key: 'k', bits: MOST_BITS + 1 }), 1)).toThrow(/4,?294,?967,?296/);
  });

  it.each([
    ['go-zero', goZero.layout({ bits: MOST_BITS }), MOST_BITS],
    ['guava', guava.layout({ bits: MOST_BITS - 64, hashCount: 10, funnel: 'stringFunnel' }), MOST_BITS - 64],
    [
      'redisson',
      redisson.layout({ bits: 4_294_967_294, hashCount: 10, codec: 'StringCodec' }),
      4_294_967_294,
    ],
  ])('of layout %s has bits up to its end, and none beyond', (_, layout, bits) => {
    let [least, most] = [Infinity, 0];
    for (let i = 0; i < 20_000; i++) {
      for (const place of layout.positions(`id-${i}`)) {
        least = Math.min(least, place);
        most = Math.max(most, place);
      }
    }
    expect(least).toBeGreaterThanOrEqual(0);
    expect(least).toBeLessThan(bits / 1000);
    expect(most).toBeLessThan(bits);
    expect(most).toBeGreaterThan(bits - bits / 1000);
  });
});
