import type { Generation } from './generation.js';
import { HalfSipHash } from './half-sip-hash.js';
import { type IdKey, isLongerThan } from './id.js';
import { BLOCK_BYTES, BLOCK_DATA_BITS, TAG_BYTES } from './sizing.js';

// A linear congruential step modulo 2^32; the multiplier is the best of 32 bits by the spectral test (G.
// Steele, S. Vigna, "Computationally easy, spectrally good multipliers for congruential pseudorandom number
// generators", 2022).
const MULTIPLIER = 0x93d765dd | 0;
const INCREMENT = 0x9e3779b9 | 0;
/** Up to here the product with a number of 32 bits is exact in a double. */
const EXACT_BLOCKS = 2 ** 21;
const TAG_BITS = TAG_BYTES * 8;

/**
 * Layout 1, `blocked`: where the bits of an id are.
 *
 * The first 32 bits of the id's hash choose the block: floor(first · blocks / 2^32). The last 32 bits are the
 * seed of its `hashCount` positions: seed ← seed · 0x93d765dd + 0x9e3779b9 (mod 2^32), position = 32 +
 * floor((seed >>> 12) · 2016 / 2^20). Position p is bit p & 7, least significant first, of byte p >>> 3 of
 * the block; bytes 0 to 3 are the tag, little-endian.
 */
export class BlockedLayout {
  /** Part of the place of the id last located. */
  block = 0;
  /** Part of the place of the id last located. */
  seed = 0;

  private readonly hash: HalfSipHash;
  private readonly tag: number;
  private readonly blocks: number;
  private readonly hashCount: number;
  private readonly maxIdBytes: number;

  constructor(generation: Generation) {
    this.hash = new HalfSipHash(generation.key[0] | 0, generation.key[1] | 0);
    this.tag = generation.tag | 0;
    this.blocks = generation.blocks;
    this.hashCount = generation.hashCount;
    this.maxIdBytes = generation.maxIdBytes;
  }

  /** Whether no other id has a bit of the id last located. */
  get isOwnBit(): boolean {
    return false;
  }

  /** Finds the block and the seed of an id. An id over `maxIdBytes` is not hashed: false, and block 0. */
  locate(id: IdKey): boolean {
    if (this.isTooLong(id)) {
      this.block = 0;
      this.seed = 0;
      return false;
    }
    const { hash } = this;
    hash.hash(id);
    this.block = scaled(hash.first, this.blocks);
    this.seed = hash.last;
    return true;
  }

  /**
   * As `locate` for the id of the bytes from `start` to `end`, of which there are no more than `maxIdBytes`.
   */
  locateBytes(bytes: Uint8Array, start: number, end: number): void {
    const { hash } = this;
    hash.hashBytes(bytes, start, end);
    this.block = scaled(hash.first, this.blocks);
    this.seed = hash.last;
  }

  /**
   * Whether all bits of a seed are set in the block that begins at `offset`. Four positions between two
   * branches: with one after each the processor guesses wrong for almost every absent id.
   */
  contains(bytes: Uint8Array, offset: number, seed: number): boolean {
    let i = this.hashCount;
    for (; i >= 4; i -= 4) {
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const a = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const b = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const c = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const d = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      const all =
        (bytes[offset + (a >>> 3)]! >>> (a & 7)) &
        (bytes[offset + (b >>> 3)]! >>> (b & 7)) &
        (bytes[offset + (c >>> 3)]! >>> (c & 7)) &
        (bytes[offset + (d >>> 3)]! >>> (d & 7));
      if ((all & 1) === 0) return false;
    }
    for (; i > 0; i--) {
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const position = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      if ((bytes[offset + (position >>> 3)]! & (1 << (position & 7))) === 0) return false;
    }
    return true;
  }

  /** Sets all bits of a seed; true when one of them was not set. */
  insert(bytes: Uint8Array, offset: number, seed: number): boolean {
    let changed = 0;
    for (let i = this.hashCount; i > 0; i--) {
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      const position = TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20);
      const at = offset + (position >>> 3);
      const before = bytes[at]!;
      const after = before | (1 << (position & 7));
      changed |= before ^ after;
      bytes[at] = after;
    }
    return changed !== 0;
  }

  /** The positions of a seed within its block, in order. */
  positions(seed: number): number[] {
    const positions: number[] = [];
    for (let i = this.hashCount; i > 0; i--) {
      seed = (Math.imul(seed, MULTIPLIER) + INCREMENT) | 0;
      positions.push(TAG_BITS + (((seed >>> 12) * BLOCK_DATA_BITS) >>> 20));
    }
    return positions;
  }

  /** Whether the block at `offset` is there whole and has the tag of this generation. */
  owns(bytes: Uint8Array, offset: number): boolean {
    if (offset + BLOCK_BYTES > bytes.length) return false;
    const tag =
      bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
    return tag === this.tag;
  }

  /** Whether an id is over `maxIdBytes`. */
  isTooLong(id: IdKey): boolean {
    return isLongerThan(id, this.maxIdBytes);
  }
}

/**
 * floor(first · blocks / 2^32) of an unsigned `first`; the product has up to 56 bits, more than a double
 * holds.
 */
function scaled(first: number, blocks: number): number {
  if (blocks <= EXACT_BLOCKS) return ((first >>> 0) * blocks * 2 ** -32) | 0;
  return (((first >>> 16) * blocks + Math.floor(((first & 0xffff) * blocks) / 65536)) / 65536) | 0;
}
