import { BloomConfigError } from 'nestjs-bloom/filter';
import type { BitmapLayout } from './bitmap-layout.js';
import { BIT_ORDERS } from './bit-order.js';
import { countBits } from 'nestjs-bloom/internal';
import { tooLargeForMemory } from '../peers.messages.js';

/** The longest byte array: 4 GiB. */
const MAX_BYTES = 2 ** 32;
/** A bitmap that was read grows in steps of at least this. */
const LEAST_GROWTH = 4096;

/** The bits of a layout in the memory of this process, in the bit order of the peer. */
export class Bitmap {
  private bytes: Uint8Array;
  private readonly size: number;
  private readonly turnedBytes: number;
  private readonly turnedBits: number;

  /**
   * @param bytes what they are short of is zeros, for which memory is taken when they are set. Left out: empty.
   * @throws {BloomConfigError} when the bitmap would exceed 4 GiB.
   */
  constructor(
    private readonly layout: BitmapLayout,
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
