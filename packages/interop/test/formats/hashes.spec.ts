import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HighwayHash, multiplyHigh, Murmur3, MurmurHash64A } from '../../src/formats/hash/hashes.js';
import { ByteSink } from '../../src/formats/byte-sink.js';
import { referenceHighwayHash, referenceMurmur3, referenceMurmur64A } from './reference-hashes.js';

/** Every length up to three packets, and some longer ones; small and large bytes. */
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => bytes.map((byte) => (byte < 128 ? 0 : 0xff))),
  fc.uint8Array({ minLength: 1000, maxLength: 5000 }),
);
const anyWord = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 0x7fffffff, -0x80000000, -1024, 65_535));

function sinkOf(bytes: Uint8Array): ByteSink {
  const sink = new ByteSink();
  // What was there before must not matter.
  sink.putBytes(new Uint8Array(200).fill(0xff));
  sink.clear();
  sink.putBytes(bytes);
  sink.pad();
  return sink;
}

function joined(high: number, low: number): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

describe('The upper half of a product', () => {
  it('is exact', () => {
    fc.assert(
      fc.property(anyWord, anyWord, (a, b) => {
        const product = BigInt(a >>> 0) * BigInt(b >>> 0);
        expect(multiplyHigh(a, b)).toBe(Number(BigInt.asIntN(32, product >> 32n)));
      }),
      { numRuns: 5_000 },
    );
  });

  it('is exact where the double was rounded up beyond it', () => {
    // Odd a and a lower half just below 2^32 decide b; the upper half comes as it comes.
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 1100 }), (word, below) => {
        const a = BigInt((word | 1) >>> 0);
        let inverse = a;
        for (let i = 0; i < 5; i++) inverse = BigInt.asUintN(32, inverse * (2n - a * inverse));
        const b = BigInt.asUintN(32, -BigInt(below) * inverse);
        expect(multiplyHigh(Number(a), Number(b))).toBe(Number(BigInt.asIntN(32, (a * b) >> 32n)));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('The hashes of the peers', () => {
  it('are those of a second implementation: MurmurHash3', () => {
    const hash = new Murmur3();
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        hash.hash(sinkOf(bytes));
        const expected = referenceMurmur3(bytes);
        expect([joined(hash.h1High, hash.h1Low), joined(hash.h2High, hash.h2Low)]).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('are those of a second implementation: MurmurHash3 with a byte appended', () => {
    const hash = new Murmur3();
    const halves = new Int32Array(28);
    fc.assert(
      fc.property(anyBytes, fc.integer({ min: 1, max: 14 }), (bytes, first) => {
        hash.absorb(sinkOf(bytes));
        hash.finishWithSuffixes(halves, 0, first);
        hash.finishWithSuffixes(halves, first, 14);
        for (let i = 0; i < 14; i++) {
          const [h1] = referenceMurmur3(Uint8Array.of(...bytes, i));
          expect(joined(halves[2 * i]!, halves[2 * i + 1]!)).toBe(h1);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('go on with what was absorbed when another one was in between', () => {
    const [one, other] = [new Murmur3(), new Murmur3()];
    const halves = new Int32Array(28);
    one.absorb(sinkOf(Uint8Array.of(1, 2, 3)));
    other.hash(sinkOf(new Uint8Array(40)));
    one.finishWithSuffixes(halves, 0, 14);
    const [h1] = referenceMurmur3(Uint8Array.of(1, 2, 3, 13));
    expect(joined(halves[26]!, halves[27]!)).toBe(h1);
  });

  it.each([32_768, 65_536, 100_003])('are right for an id of %d bytes', (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) ^ (i >>> 8));
    const murmur = new Murmur3();
    murmur.hash(sinkOf(bytes));
    const halves = [joined(murmur.h1High, murmur.h1Low), joined(murmur.h2High, murmur.h2Low)];
    expect(halves).toEqual(referenceMurmur3(bytes));
    const highway = new HighwayHash();
    highway.hash(sinkOf(bytes));
    const found = [
      joined(highway.firstHigh, highway.firstLow),
      joined(highway.secondHigh, highway.secondLow),
    ];
    expect(found).toEqual(referenceHighwayHash(bytes));
  });

  it('are those of a second implementation: MurmurHash64A', () => {
    const hash = new MurmurHash64A();
    fc.assert(
      fc.property(anyBytes, anyWord, anyWord, (bytes, seedHigh, seedLow) => {
        hash.hash(sinkOf(bytes), seedHigh, seedLow);
        expect(joined(hash.high, hash.low)).toBe(referenceMurmur64A(bytes, joined(seedHigh, seedLow)));
      }),
      { numRuns: 500 },
    );
  });

  it('are those of a second implementation: HighwayHash', () => {
    const hash = new HighwayHash();
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        hash.hash(sinkOf(bytes));
        const found = [joined(hash.firstHigh, hash.firstLow), joined(hash.secondHigh, hash.secondLow)];
        expect(found).toEqual(referenceHighwayHash(bytes));
      }),
      { numRuns: 300 },
    );
  });
});
