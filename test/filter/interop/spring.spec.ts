import { describe, expect, it } from '@jest/globals';
import { BloomConfigError } from '../../../src/filter/index.js';
import { spring, type SpringFunnel } from '../../../src/interop/index.js';
import { readVectors, textOf, toHex, type VectorKey } from './vectors.js';

const { cases } = readVectors<{
  readonly cases: readonly {
    readonly funnel: string;
    readonly expectedInsertions: number;
    readonly fpp: number;
    readonly bitSize: number;
    readonly numHashFunctions: number;
    readonly offsets: readonly (VectorKey & { readonly offsets: readonly number[] })[];
  }[];
}>('springhelper');

function funnelOf(name: string): SpringFunnel {
  return name === 'putString twice' ? 'putStringTwice' : 'stringFunnel';
}

describe('The BloomFilterHelper of Spring', () => {
  it.each(cases.filter(({ bitSize }) => bitSize > 0))(
    'has $bitSize bits for $expectedInsertions ids at $fpp, and those of each id where it has them: $funnel',
    ({ funnel, expectedInsertions: capacity, fpp: errorRate, bitSize, numHashFunctions, offsets }) => {
      expect(spring.size({ capacity, errorRate })).toEqual({ bits: bitSize, hashCount: numHashFunctions });
      const layout = spring.layout({ bits: bitSize, hashCount: numHashFunctions, funnel: funnelOf(funnel) });
      for (const key of offsets) expect(layout.positions(textOf(key)!)).toEqual(key.offsets);
    },
  );

  it.each(cases.filter(({ bitSize }) => bitSize === 0))(
    'cannot be made for $expectedInsertions ids at $fpp: it would divide by zero',
    ({ expectedInsertions: capacity, fpp: errorRate }) => {
      expect(() => spring.create({ capacity, errorRate })).toThrow(BloomConfigError);
    },
  );

  it('takes an error rate of 0 for the smallest double', () => {
    expect(spring.size({ capacity: 1000, errorRate: 0 })).toEqual({ bits: 1_549_454, hashCount: 1074 });
  });

  it('sets the bits of an id in its Redis string', () => {
    const options = { capacity: 100, errorRate: 0.01, funnel: 'stringFunnel' } as const;
    const filter = spring.create(options);
    filter.add('a');
    const expected = new Uint8Array(100);
    for (const bit of [642, 793, 13, 521, 285, 249, 557]) expected[bit >> 3]! |= 0x80 >> (bit & 7);
    expect(toHex(filter.write())).toBe(toHex(expected));
    expect(spring.read(expected, options).mightContain('a')).toBe(true);
  });
});
