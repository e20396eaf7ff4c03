import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { goZero, guava, redisBloom, redisson } from '../../src/index.js';
import { referenceHighwayHash, referenceMurmur3, referenceMurmur64A } from './reference-hashes.js';

interface Geometry {
  readonly bits: number;
  readonly hashCount: number;
}

const steps = (count: number) => Array.from({ length: count }, (_, i) => i);
const u64 = (value: bigint) => BigInt.asUintN(64, value);
/** Without the sign. */
const below63 = (value: bigint) => BigInt.asUintN(63, value);
const modulo = (value: bigint, bits: number) => Number(value % BigInt(bits));

/** Where the bits of an id are, with big integers after the descriptions of the peers. */
const REFERENCES: Record<string, (bytes: Uint8Array, geometry: Geometry) => number[]> = {
  'go-zero': (bytes, { bits }) =>
    steps(14).map((i) => modulo(referenceMurmur3(Uint8Array.of(...bytes, i))[0], bits)),
  MURMUR128_MITZ_64: (bytes, { bits, hashCount }) => {
    const [h1, h2] = referenceMurmur3(bytes);
    return steps(hashCount).map((i) => modulo(below63(h1 + BigInt(i) * h2), bits));
  },
  MURMUR128_MITZ_32: (bytes, { bits, hashCount }) => {
    const [h] = referenceMurmur3(bytes);
    const [h1, h2] = [BigInt.asIntN(32, h), BigInt.asIntN(32, h >> 32n)];
    return steps(hashCount).map((i) => {
      const combined = BigInt.asIntN(32, h1 + BigInt(i + 1) * h2);
      return modulo(combined < 0n ? ~combined : combined, bits);
    });
  },
  Redisson: (bytes, { bits, hashCount }) => {
    const [first, second] = referenceHighwayHash(bytes);
    let combined = first;
    return steps(hashCount).map((i) => {
      const position = modulo(below63(combined), bits);
      combined += i % 2 === 0 ? second : first;
      return position;
    });
  },
  RedisBloom: (bytes, { bits, hashCount }) => {
    const a = referenceMurmur64A(bytes, 0xc6a4a7935bd1e995n);
    const b = referenceMurmur64A(bytes, a);
    return steps(hashCount).map((i) => modulo(u64(a + BigInt(i) * b), bits));
  },
};
const LAYOUTS: Record<string, (geometry: Geometry) => { positions(id: Uint8Array): ArrayLike<number> }> = {
  'go-zero': (geometry) => goZero.layout(geometry),
  MURMUR128_MITZ_64: (geometry) =>
    guava.layout({ ...geometry, funnel: 'byteArrayFunnel', strategy: 'MURMUR128_MITZ_64' }),
  MURMUR128_MITZ_32: (geometry) =>
    guava.layout({ ...geometry, funnel: 'byteArrayFunnel', strategy: 'MURMUR128_MITZ_32' }),
  Redisson: (geometry) => redisson.layout({ ...geometry, codec: 'ByteArrayCodec' }),
  RedisBloom: (geometry) => redisBloom.layout(geometry),
};

describe.each(Object.keys(REFERENCES))('The positions of %s', (name) => {
  it('are those of a second implementation, for bytes of every length, in filters of every size', () => {
    const geometry = fc.record({
      // Multiples of 64, which all peers have; those of RedisBloom may be beyond 2^32.
      bits: fc
        .oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 2 ** 26 - 1 }))
        .map((n) => n * 64),
      hashCount: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), geometry, (bytes, size) => {
        expect(Array.from(LAYOUTS[name]!(size).positions(bytes))).toEqual(REFERENCES[name]!(bytes, size));
      }),
      { numRuns: 300 },
    );
  });
});
