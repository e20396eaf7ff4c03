import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HalfSipHash, type IdKey } from '../../src/filter/index.js';
import { Random } from '../support/random.js';
import { referenceHalfSipHash } from './reference-half-sip-hash.js';

/**
 * `vectors_hsip64` of
 * https://github.com/veorq/SipHash/blob/f26d35e964c6290ffe23d9043475ad3129f409e0/vectors.h: HalfSipHash-2-4
 * with the key 00 01 … 07 of the message 00 01 … of this length.
 */
const officialVectors = [
  [0, '218d1f59b9b83cc8'],
  [1, 'be552412f8387315'],
  [2, '064f39ef7c50eb57'],
  [3, 'ce0f1a45f7060679'],
  [4, 'd5e78a175be52ea1'],
  [5, 'cb9d7c3f2f3db580'],
  [7, 'ff202728b07bc684'],
  [8, 'edfee820bce4858c'],
  [15, '217d0bcb4e81c902'],
  [16, '7336aad25f7bf3b5'],
  [31, '863c7f155c34117c'],
  [63, '2ea63c71bf326087'],
] as const;

const unsigned = fc.integer({ min: 0, max: 0xffffffff });

function hash(id: IdKey, key: readonly [number, number]): [number, number] {
  const half = new HalfSipHash(key[0] | 0, key[1] | 0);
  half.hash(id);
  return [half.first >>> 0, half.last >>> 0];
}

function expected(id: IdKey, key: readonly [number, number]): [number, number] {
  const bytes = typeof id === 'string' ? new TextEncoder().encode(id) : id;
  return referenceHalfSipHash(bytes, key, { compression: 1, finalization: 3 });
}

describe('The reference in these tests', () => {
  it.each(officialVectors)('gives the official HalfSipHash-2-4 of %i bytes', (length, official) => {
    const message = Uint8Array.from({ length }, (_, at) => at);
    const words = referenceHalfSipHash(message, [0x03020100, 0x07060504], {
      compression: 2,
      finalization: 4,
    });
    const bytes = Buffer.alloc(8);
    words.forEach((word, at) => bytes.writeUInt32LE(word, at * 4));
    expect(bytes.toString('hex')).toBe(official);
  });
});

describe('HalfSipHash-1-3', () => {
  it('hashes bytes of every length from 0 to 300 as the reference does', () => {
    const random = new Random(1);
    for (let length = 0; length <= 300; length++) {
      const key = [random.uint32(), random.uint32()] as const;
      const bytes = random.bytes(length);
      expect({ length, hash: hash(bytes, key) }).toEqual({ length, hash: expected(bytes, key) });
    }
  });

  it('hashes ASCII text of every length from 0 to 300 as the reference does', () => {
    const random = new Random(2);
    for (let length = 0; length <= 300; length++) {
      const key = [random.uint32(), random.uint32()] as const;
      const text = Array.from({ length }, () => String.fromCharCode(random.below(128))).join('');
      expect({ text, hash: hash(text, key) }).toEqual({ text, hash: expected(text, key) });
    }
  });

  it('hashes text of every length from 1 to 300 with one character beyond ASCII as its UTF-8', () => {
    const random = new Random(3);
    for (let length = 1; length <= 300; length++) {
      const key = [random.uint32(), random.uint32()] as const;
      const characters = Array.from({ length }, () => String.fromCharCode(random.below(128)));
      characters[random.below(length)] = ['\x80', 'é', 'Ā', '€', '商', '😀'][random.below(6)]!;
      const text = characters.join('');
      expect({ text, hash: hash(text, key) }).toEqual({ text, hash: expected(text, key) });
    }
  });

  it('hashes any text and any bytes as the reference does, with any key', () => {
    const id = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.uint8Array({ maxLength: 300 }));
    fc.assert(
      fc.property(id, fc.tuple(unsigned, unsigned), (id, key) =>
        expect(hash(id, key)).toEqual(expected(id, key)),
      ),
      {
        numRuns: 300,
      },
    );
  });

  it('gives text and its UTF-8 bytes one hash', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.tuple(unsigned, unsigned), (text, key) =>
        expect(hash(text, key)).toEqual(hash(new TextEncoder().encode(text), key)),
      ),
    );
  });

  it('reads bytes from a view within a larger buffer', () => {
    const buffer = new Random(4).bytes(64);
    const view = buffer.subarray(3, 40);
    expect(hash(view, [1, 2])).toEqual(hash(Uint8Array.from(view), [1, 2]));
  });

  it('carries nothing over from one id to the next', () => {
    const half = new HalfSipHash(1, 2);
    half.hash('first');
    const alone = [half.first, half.last];
    half.hash('another, longer, with ü');
    half.hash('first');
    expect([half.first, half.last]).toEqual(alone);
  });
});
