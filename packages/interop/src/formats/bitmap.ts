import { BloomConfigError, BloomFormatError } from 'nestjs-bloom/filter';
import { countBits } from 'nestjs-bloom/internal';
import { bitsBehindTheLast, stringTooLong, tooLargeForMemory } from './formats.messages.js';

/**
 * Where bit i of a filter is. All three orders are one order with some bits of i turned round: with j = i xor
 * the number here, it is bit j & 7, least significant first, of byte j >>> 3.
 */
export const BIT_ORDERS = {
  /** RedisBloom's dumps: byte i >>> 3, mask 1 << (i & 7). */
  'least-significant-first': 0,
  /** Redis `SETBIT`: byte i >>> 3, mask 0x80 >>> (i & 7). */
  'most-significant-first': 7,
  /** Guava's dumps: bit i & 63 of the 64-bit word i >>> 6, each word written big-endian. */
  'big-endian-words': 56,
} as const;

/** How a peer numbers the bits of its bytes. */
export type BitOrder = keyof typeof BIT_ORDERS;

const WORD_BYTES = 8;

/**
 * A bitmap in another order. Words are whole: a bitmap that comes from words or becomes such is filled up
 * with zeros to a multiple of 8 bytes.
 */
export function reorderBits(bytes: Uint8Array, orders: { from: BitOrder; to: BitOrder }): Uint8Array {
  const turned = BIT_ORDERS[orders.from] ^ BIT_ORDERS[orders.to];
  const turnedBytes = turned >>> 3;
  const reordered = new Uint8Array(
    turnedBytes === 0 ? bytes.length : Math.ceil(bytes.length / WORD_BYTES) * WORD_BYTES,
  );
  const isTurned = (turned & 7) !== 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    // at - (at % 8) + ((at % 8) ^ turned): `^` alone would cut an index of over 31 bits.
    const inWord = at % WORD_BYTES;
    reordered[at - inWord + (inWord ^ turnedBytes)] = isTurned ? reversed(byte) : byte;
  }
  return reordered;
}

function reversed(byte: number): number {
  byte = ((byte & 0x55) << 1) | ((byte >>> 1) & 0x55);
  byte = ((byte & 0x33) << 2) | ((byte >>> 2) & 0x33);
  return ((byte & 0x0f) << 4) | (byte >>> 4);
}

/**
 * Checks the value of a Redis string that holds the bits of a filter, most significant first. It may be
 * shorter than the filter: Redis keeps bytes up to the highest bit set only.
 *
 * @throws {BloomFormatError} when it is longer than the filter, or has bits behind the last one.
 */
export function checkRedisString(value: Uint8Array, { bits }: { readonly bits: number }): void {
  const size = Math.ceil(bits / 8);
  if (value.length > size) {
    throw new BloomFormatError(stringTooLong(size, bits, value.length));
  }
  const spare = size * 8 - bits;
  if (value.length === size && (value[size - 1]! & ((1 << spare) - 1)) !== 0) {
    throw new BloomFormatError(bitsBehindTheLast(bits - 1));
  }
}

/** The longest byte array: 4 GiB. */
const MAX_BYTES = 2 ** 32;
/** A bitmap that was read grows in steps of at least this. */
const LEAST_GROWTH = 4096;

/** A layout, and where it located an id. */
interface LocatedId {
  readonly bits: number;
  readonly hashCount: number;
  readonly bitOrder: BitOrder;
  readonly places: Float64Array;
  readonly located: number;
  locateNext(): void;
}

/** The bits of a layout in the memory of this process, in the bit order of the peer. */
export class Bitmap {
  private bytes: Uint8Array;
  private readonly size: number;
  private readonly turnedBytes: number;
  private readonly turnedBits: number;

  /**
   * @param bytes what they are short of is zeros, for which memory is taken when they are set. Left out:
   * empty.
   * @throws {BloomConfigError} when the bitmap would exceed 4 GiB.
   */
  constructor(
    private readonly layout: LocatedId,
    bytes?: Uint8Array,
  ) {
    const turned = BIT_ORDERS[layout.bitOrder];
    this.turnedBytes = turned >>> 3;
    this.turnedBits = turned & 7;
    this.size = Math.ceil(layout.bits / 8);
    if (this.size > MAX_BYTES) {
      throw new BloomConfigError(tooLargeForMemory(MAX_BYTES, this.size));
    }
    this.bytes = bytes ?? new Uint8Array(this.size);
  }

  /** Whether all bits of the id that the layout located last are set. */
  contains(): boolean {
    const { layout, bytes, turnedBytes, turnedBits } = this;
    const { places, hashCount } = layout;
    for (let i = 0; ;) {
      const { located } = layout;
      for (; i < located; i++) {
        const place = places[i]!;
        const at = ((place / 8) ^ turnedBytes) >>> 0;
        if (at >= bytes.length || (bytes[at]! & (1 << ((place ^ turnedBits) & 7))) === 0) return false;
      }
      if (i === hashCount) return true;
      layout.locateNext();
    }
  }

  /** Sets all bits of the id that the layout located last; true when one of them was not set. */
  insert(): boolean {
    const { layout, turnedBytes, turnedBits } = this;
    const { places, hashCount } = layout;
    let changed = 0;
    for (let i = 0; i < hashCount; i++) {
      if (i === layout.located) layout.locateNext();
      const place = places[i]!;
      const at = ((place / 8) ^ turnedBytes) >>> 0;
      if (at >= this.bytes.length) this.grow(at + 1);
      const before = this.bytes[at]!;
      const after = before | (1 << ((place ^ turnedBits) & 7));
      changed |= before ^ after;
      this.bytes[at] = after;
    }
    return changed !== 0;
  }

  /** Sets every bit that is set in a bitmap of the same size and order. */
  merge({ bytes }: Bitmap): void {
    if (bytes.length > this.bytes.length) this.grow(bytes.length);
    for (let at = 0; at < bytes.length; at++) this.bytes[at]! |= bytes[at]!;
  }

  countBits(): number {
    return countBits(this.bytes);
  }

  /** The bytes from `from` up to `to` of a bitmap that was made whole, as they are now. */
  view(from: number, to: number): Uint8Array {
    return this.bytes.subarray(from, to);
  }

  /** A copy of all bytes. */
  copy(): Uint8Array {
    const copy = new Uint8Array(this.size);
    copy.set(this.bytes);
    return copy;
  }

  /** A copy of the bytes up to the last one that is not zero, which is what Redis keeps. */
  copyUsed(): Uint8Array {
    let end = this.bytes.length;
    while (end > 0 && this.bytes[end - 1] === 0) end--;
    return this.bytes.slice(0, end);
  }

  private grow(needed: number): void {
    const length = Math.max(needed, this.bytes.length * 2, LEAST_GROWTH);
    const grown = new Uint8Array(Math.min(length, this.size));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
