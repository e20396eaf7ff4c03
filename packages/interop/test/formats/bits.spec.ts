import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DoubleHashing, MAX_MODULUS, Modulus } from '../../src/formats/double-hashing.js';
import { BIT_ORDERS, type BitOrder, guava, goZero, reorderBits } from '../../src/index.js';

/** Sizes of every order of magnitude, and those where the arithmetic changes. */
const anyBits = fc.oneof(
  fc.double({ min: 0, max: 48, noNaN: true }).map((exponent) => Math.floor(2 ** exponent)),
  fc.constantFrom(1, 2, 3, 7, 64, 2 ** 13, 2 ** 20, 2 ** 30, 2 ** 31, 2 ** 32, 2 ** 36, 2 ** 44, MAX_MODULUS),
  fc
    .tuple(fc.constantFrom(13, 20, 30, 31, 32, 36, 44), fc.constantFrom(-1, 1))
    .map(([exponent, sign]) => 2 ** exponent + sign),
);
const anyHash = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n),
);

function halves(value: bigint): [high: number, low: number] {
  return [Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value))];
}

describe('A remainder of 64 bits', () => {
  it('is exact for every number of bits', () => {
    fc.assert(
      fc.property(anyBits, anyHash, (bits, hash) => {
        const modulus = new Modulus(bits);
        expect(modulus.remainder(...halves(hash))).toBe(Number(hash % BigInt(bits)));
      }),
      { numRuns: 5_000 },
    );
  });

  it('is exact around multiples of the number of bits', () => {
    const near = fc.tuple(anyBits, anyHash, fc.integer({ min: -2, max: 2 }));
    fc.assert(
      fc.property(near, ([bits, hash, off]) => {
        const value = BigInt.asUintN(64, hash - (hash % BigInt(bits)) + BigInt(off));
        expect(new Modulus(bits).remainder(...halves(value))).toBe(Number(value % BigInt(bits)));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('Positions by steps', () => {
  it('are remainders of a number of 64 bits that grows', () => {
    fc.assert(
      fc.property(
        anyBits,
        anyHash,
        anyHash,
        fc.boolean(),
        fc.boolean(),
        (bits, first, second, clears, turns) => {
          const places = new Float64Array(40);
          const stepped = new DoubleHashing(bits, { clearsTopBit: clears, alternates: turns });
          stepped.fill(places, ...halves(first), ...halves(second));
          let c = first;
          const expected = Array.from(places, (_, i) => {
            const place = Number(BigInt.asUintN(clears ? 63 : 64, c) % BigInt(bits));
            c = BigInt.asUintN(64, c + (turns && i % 2 === 1 ? first : second));
            return place;
          });
          expect([...places]).toEqual(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('The three bit orders', () => {
  const orders = Object.keys(BIT_ORDERS) as BitOrder[];
  const place: Record<BitOrder, (bit: number) => [byte: number, mask: number]> = {
    'most-significant-first': (bit) => [bit >> 3, 0x80 >> (bit & 7)],
    'least-significant-first': (bit) => [bit >> 3, 1 << (bit & 7)],
    'big-endian-words': (bit) => [8 * (bit >> 6) + 7 - ((bit & 63) >> 3), 1 << (bit & 7)],
  };

  it.each(orders.flatMap((from) => orders.map((to) => ({ from, to }))))(
    'keep every bit when $from becomes $to',
    ({ from, to }) => {
      fc.assert(
        fc.property(fc.uniqueArray(fc.nat(511)), (bits) => {
          const bytes = new Uint8Array(64);
          const expected = new Uint8Array(64);
          for (const bit of bits) {
            const [at, mask] = place[from](bit);
            bytes[at]! |= mask;
            const [expectedAt, expectedMask] = place[to](bit);
            expected[expectedAt]! |= expectedMask;
          }
          expect(reorderBits(bytes, { from, to })).toEqual(expected);
        }),
      );
    },
  );

  it('make a body of Guava of a Redis string that is cut short, by filling it up to whole words', () => {
    const redis = Uint8Array.of(0x80, 0, 0x01);
    const body = reorderBits(redis, { from: 'most-significant-first', to: 'big-endian-words' });
    expect(body).toEqual(Uint8Array.of(0, 0, 0, 0, 0, 0x80, 0, 0x01));
  });

  it('are those of the layouts', () => {
    expect(goZero.layout({ bits: 8 }).bitOrder).toBe('most-significant-first');
    expect(guava.layout({ bits: 64, hashCount: 1, funnel: 'stringFunnel' }).bitOrder).toBe(
      'big-endian-words',
    );
  });
});
