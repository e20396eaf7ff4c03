import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { goZero } from '../../src/index.js';
import { bytesOf, fromHex, named, readVectors, rows, toHex } from './vectors.js';

interface Location {
  readonly id: string;
  readonly offsets: Readonly<Record<string, readonly number[]>>;
}

const { locations, filters } = readVectors<{
  readonly locations: readonly Location[];
  readonly filters: readonly {
    readonly bits: number;
    readonly added: readonly string[];
    readonly valueHex: string;
    readonly falsePositives: readonly string[];
    readonly absent: readonly string[];
  }[];
}>('gozero');

describe('go-zero', () => {
  it.each(rows(locations))('has the bits of $name where go-zero has', ({ key: location }) => {
    for (const [bits, offsets] of Object.entries(location.offsets)) {
      const layout = goZero.layout({ bits: Number(bits) });
      expect(layout.positions(bytesOf(location.id))).toEqual(offsets);
      expect(layout.positions(named(location.id))).toEqual(offsets);
    }
  });

  it.each(filters)('writes the Redis string of $bits bits that go-zero wrote, and reads it', (expected) => {
    const { bits, added, valueHex, falsePositives, absent } = expected;
    const filter = goZero.create({ bits });
    for (const id of added) filter.add(named(id));
    expect(toHex(filter.write())).toBe(valueHex);
    const read = goZero.read(fromHex(valueHex), { bits });
    for (const one of [filter, read]) {
      for (const id of [...added, ...falsePositives]) expect(one.mightContain(named(id))).toBe(true);
      for (const id of absent) expect(one.mightContain(named(id))).toBe(false);
    }
    expect(toHex(read.write())).toBe(valueHex);
  });

  it('places an id as its documentation says', () => {
    expect(goZero.layout({ bits: 1000 }).positions('a')).toEqual([
      213, 199, 204, 137, 110, 16, 555, 683, 82, 909, 716, 652, 586, 792,
    ]);
  });

  it('works beyond the 2^32 bits that Redis holds, as far as positions go', () => {
    for (const bits of [2 ** 32, 2 ** 32 + 1, 2 ** 40]) {
      expect(Math.max(...goZero.layout({ bits }).positions('x'))).toBeLessThan(bits);
    }
  });

  it.each([0, -1, 1.5, NaN, 2 ** 53, '1000' as unknown as number])('refuses %p bits', (bits) => {
    expect(() => goZero.layout({ bits })).toThrow(BloomConfigError);
    expect(() => goZero.create({ bits })).toThrow(/Expected bits to be an integer from 1 to /);
  });

  it('plans the fewest bits that keep the error rate', () => {
    const { bits, hashCount } = goZero.size({ capacity: 1_000_000, errorRate: 0.001 });
    expect(hashCount).toBe(14);
    expect(bits / 1_000_000).toBeCloseTo(14.85, 2);
    expect(() => goZero.size({ capacity: 1e9, errorRate: 1e-4 })).toThrow(/at most 4294967296 bits/);
  });
});
