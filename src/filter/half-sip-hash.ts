import type { IdKey } from './id.js';

/**
 * Taken once: as `text.charCodeAt` the engine looks it up for each character when it has met texts of several
 * kinds (slices, concatenations), which makes a hash take three times as long.
 */
const { charCodeAt } = String.prototype;

/**
 * HalfSipHash-1-3 with 64 bits of output (J.-P. Aumasson, https://github.com/veorq/SipHash): keyed, so that
 * nobody without the key can choose ids that collide. The result is left in two fields, since a return value
 * of 64 bits would be an allocation.
 */
export class HalfSipHash {
  /** The first 32 bits of the last hash, signed: as the engine keeps integers without an allocation. */
  first = 0;
  /** The last 32 bits of the last hash, signed. */
  last = 0;

  constructor(
    private readonly key0: number,
    private readonly key1: number,
  ) {}

  /** Hashes an id into `first` and `last`. */
  hash(id: IdKey): void {
    if (typeof id !== 'string') this.hashBytes(id, 0, id.length);
    else if (!this.hashText(id)) this.hashText(byteText(id));
  }

  /** The same of the bytes from `start` to `end`. */
  hashBytes(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    const whole = start + (length & ~3);
    let v0 = this.key0;
    let v1 = this.key1 ^ 0xee;
    let v2 = this.key0 ^ 0x6c796765;
    let v3 = this.key1 ^ 0x74656462;
    let i = start;
    for (; i < whole; i += 4) {
      const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    let tail = length << 24;
    for (let shift = 0; i < end; i++, shift += 8) tail |= bytes[i]! << shift;
    this.finish(v0, v1, v2, v3, tail);
  }

  /** The last word and the last rounds. For bytes alone: in `hashText` this call would cost a tenth. */
  private finish(v0: number, v1: number, v2: number, v3: number, tail: number): void {
    v3 ^= tail;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= tail;
    v2 ^= 0xee;
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.first = v1 ^ v3;
    v1 ^= 0xdd;
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.last = v1 ^ v3;
  }

  /**
   * Takes each character for a byte; false when one of them is not ASCII. In one piece, since a call for the
   * last rounds takes a tenth longer; those are two loops of three, since one loop that asks which round it
   * is takes three times as long.
   */
  private hashText(text: string): boolean {
    const { length } = text;
    const whole = length & ~3;
    let v0 = this.key0;
    let v1 = this.key1 ^ 0xee;
    let v2 = this.key0 ^ 0x6c796765;
    let v3 = this.key1 ^ 0x74656462;
    let seen = 0;
    for (let i = 0; i < whole; i += 4) {
      const c0 = charCodeAt.call(text, i);
      const c1 = charCodeAt.call(text, i + 1);
      const c2 = charCodeAt.call(text, i + 2);
      const c3 = charCodeAt.call(text, i + 3);
      seen |= c0 | c1 | c2 | c3;
      const word = c0 | (c1 << 8) | (c2 << 16) | (c3 << 24);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    let tail = length << 24;
    for (let i = whole; i < length; i++) {
      const code = charCodeAt.call(text, i);
      seen |= code;
      tail |= code << ((i - whole) << 3);
    }
    v3 ^= tail;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= tail;
    v2 ^= 0xee;
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.first = v1 ^ v3;
    v1 ^= 0xdd;
    for (let round = 0; round < 3; round++) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    this.last = v1 ^ v3;
    return seen <= 0x7f;
  }
}

/** The bytes of a text in UTF-8, a character each. */
function byteText(id: string): string {
  return Buffer.from(id).toString('latin1');
}
