import { ByteSink } from '../id/byte-sink.js';
import { multiplyHigh } from './multiply-high.js';

const PACKET_BYTES = 32;
const FINAL_ROUNDS = 6;

/** Lengths that take every branch: no rest, a rest that is odd, of whole words, of over 16 bytes, and behind a whole packet. */
const REHEARSED_LENGTHS = [0, 3, 20, 32, 45];
/** V8 notes nothing of the first calls of a function. */
const REHEARSALS = 4;

/**
 * HighwayHash with 128 bits of output (J. Alakuijala, B. Cox, J. Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
 * multiply and permute", 2016) and Redisson's key: two 64-bit numbers, each left in two halves.
 */
export class HighwayHash {
  firstHigh = 0;
  firstLow = 0;
  secondHigh = 0;
  secondLow = 0;

  /** The words of the last packet, when it is not a whole one. */
  private readonly rest = new Int32Array(PACKET_BYTES / 4);

  /**
   * Rehearses: when V8 has replaced this loop while it ran and comes upon a branch it has not seen, it drops its code and, in most
   * processes, makes no other; each hash then takes five times as long for good (seen with Node 20). So it sees all of them first.
   */
  constructor() {
    const sink = new ByteSink();
    sink.putBytes(new Uint8Array(2_000));
    for (let i = 0; i < REHEARSALS; i++) {
      // Its rare branch: the lower half of this product is 2^32 - 1.
      multiplyHigh(1, -1);
      for (const length of REHEARSED_LENGTHS) {
        sink.clear();
        sink.putBytes(new Uint8Array(length));
        sink.pad();
        this.hash(sink);
      }
    }
  }

  // One loop over packets and final rounds, with every half of every lane in a variable of its own: lanes in arrays take four
  // times as long. `+` of a comparison is a carry without a branch.
  hash({ view, length }: ByteSink): void {
    const { rest } = this;
    const size = length % PACKET_BYTES;
    const whole = (length - size) / PACKET_BYTES;
    const packets = size === 0 ? whole : whole + 1;
    const rounds = packets + FINAL_ROUNDS;
    if (size !== 0) this.readRest(view, length - size, size);

    // mul0 and mul1 are constants, v0 = mul0 ^ key, v1 = mul1 ^ key with its halves swapped.
    let v0High0 = 0xdbe6d5d5 ^ 0x9e3779b9;
    let v0Low0 = 0xfe4cce2f ^ 0x7f4a7c15;
    let v1High0 = 0x3bd39e10 ^ 0x7f4a7c15;
    let v1Low0 = 0xcb0ef593 ^ 0x9e3779b9;
    let mul0High0 = 0xdbe6d5d5 | 0;
    let mul0Low0 = 0xfe4cce2f | 0;
    let mul1High0 = 0x3bd39e10 | 0;
    let mul1Low0 = 0xcb0ef593 | 0;
    let v0High1 = 0xa4093822 ^ 0xf39cc060;
    let v0Low1 = 0x299f31d0 ^ 0x5cedc834;
    let v1High1 = 0xc0acf169 ^ 0x5cedc834;
    let v1Low1 = 0xb5f18a8c ^ 0xf39cc060;
    let mul0High1 = 0xa4093822 | 0;
    let mul0Low1 = 0x299f31d0 | 0;
    let mul1High1 = 0xc0acf169 | 0;
    let mul1Low1 = 0xb5f18a8c | 0;
    let v0High2 = 0x13198a2e ^ 0x1082276b;
    let v0Low2 = 0x03707344 ^ 0xf3a27251;
    let v1High2 = 0xbe5466cf ^ 0xf3a27251;
    let v1Low2 = 0x34e90c6c ^ 0x1082276b;
    let mul0High2 = 0x13198a2e | 0;
    let mul0Low2 = 0x03707344 | 0;
    let mul1High2 = 0xbe5466cf | 0;
    let mul1Low2 = 0x34e90c6c | 0;
    let v0High3 = 0x243f6a88 ^ 0xf86c6a11;
    let v0Low3 = 0x85a308d3 ^ 0xd0c18e95;
    let v1High3 = 0x452821e6 ^ 0xd0c18e95;
    let v1Low3 = 0x38d01377 ^ 0xf86c6a11;
    let mul0High3 = 0x243f6a88 | 0;
    let mul0Low3 = 0x85a308d3 | 0;
    let mul1High3 = 0x452821e6 | 0;
    let mul1Low3 = 0x38d01377 | 0;
    let aHigh0 = 0;
    let aLow0 = 0;
    let aHigh1 = 0;
    let aLow1 = 0;
    let aHigh2 = 0;
    let aLow2 = 0;
    let aHigh3 = 0;
    let aLow3 = 0;
    let sum = 0;
    let low = 0;
    let high = 0;
    for (let round = 0; round < rounds; round++) {
      if (round < whole) {
        const at = round * PACKET_BYTES;
        aLow0 = view.getInt32(at + 0, true);
        aHigh0 = view.getInt32(at + 4, true);
        aLow1 = view.getInt32(at + 8, true);
        aHigh1 = view.getInt32(at + 12, true);
        aLow2 = view.getInt32(at + 16, true);
        aHigh2 = view.getInt32(at + 20, true);
        aLow3 = view.getInt32(at + 24, true);
        aHigh3 = view.getInt32(at + 28, true);
      } else if (round < packets) {
        // v0 += (size << 32) + size; each half of v1 is rotated by size.
        sum = (v0Low0 + size) | 0;
        v0High0 = (v0High0 + size + +(sum >>> 0 < size)) | 0;
        v0Low0 = sum;
        v1High0 = (v1High0 << size) | (v1High0 >>> (32 - size));
        v1Low0 = (v1Low0 << size) | (v1Low0 >>> (32 - size));
        sum = (v0Low1 + size) | 0;
        v0High1 = (v0High1 + size + +(sum >>> 0 < size)) | 0;
        v0Low1 = sum;
        v1High1 = (v1High1 << size) | (v1High1 >>> (32 - size));
        v1Low1 = (v1Low1 << size) | (v1Low1 >>> (32 - size));
        sum = (v0Low2 + size) | 0;
        v0High2 = (v0High2 + size + +(sum >>> 0 < size)) | 0;
        v0Low2 = sum;
        v1High2 = (v1High2 << size) | (v1High2 >>> (32 - size));
        v1Low2 = (v1Low2 << size) | (v1Low2 >>> (32 - size));
        sum = (v0Low3 + size) | 0;
        v0High3 = (v0High3 + size + +(sum >>> 0 < size)) | 0;
        v0Low3 = sum;
        v1High3 = (v1High3 << size) | (v1High3 >>> (32 - size));
        v1Low3 = (v1Low3 << size) | (v1Low3 >>> (32 - size));
        aLow0 = rest[0]!;
        aHigh0 = rest[1]!;
        aLow1 = rest[2]!;
        aHigh1 = rest[3]!;
        aLow2 = rest[4]!;
        aHigh2 = rest[5]!;
        aLow3 = rest[6]!;
        aHigh3 = rest[7]!;
      } else {
        aLow0 = v0High2;
        aHigh0 = v0Low2;
        aLow1 = v0High3;
        aHigh1 = v0Low3;
        aLow2 = v0High0;
        aHigh2 = v0Low0;
        aLow3 = v0High1;
        aHigh3 = v0Low1;
      }

      // Lanes 0 and 1. Each: v1 += mul0 + a; mul0 ^= low(v1) * high(v0); v0 += mul1; mul1 ^= low(v0) * high(v1)
      sum = (mul0Low0 + aLow0) | 0;
      aHigh0 = (mul0High0 + aHigh0 + +(sum >>> 0 < aLow0 >>> 0)) | 0;
      v1Low0 = (v1Low0 + sum) | 0;
      v1High0 = (v1High0 + aHigh0 + +(v1Low0 >>> 0 < sum >>> 0)) | 0;
      mul0Low0 ^= Math.imul(v1Low0, v0High0);
      mul0High0 ^= multiplyHigh(v1Low0, v0High0);
      v0Low0 = (v0Low0 + mul1Low0) | 0;
      v0High0 = (v0High0 + mul1High0 + +(v0Low0 >>> 0 < mul1Low0 >>> 0)) | 0;
      mul1Low0 ^= Math.imul(v0Low0, v1High0);
      mul1High0 ^= multiplyHigh(v0Low0, v1High0);
      sum = (mul0Low1 + aLow1) | 0;
      aHigh1 = (mul0High1 + aHigh1 + +(sum >>> 0 < aLow1 >>> 0)) | 0;
      v1Low1 = (v1Low1 + sum) | 0;
      v1High1 = (v1High1 + aHigh1 + +(v1Low1 >>> 0 < sum >>> 0)) | 0;
      mul0Low1 ^= Math.imul(v1Low1, v0High1);
      mul0High1 ^= multiplyHigh(v1Low1, v0High1);
      v0Low1 = (v0Low1 + mul1Low1) | 0;
      v0High1 = (v0High1 + mul1High1 + +(v0Low1 >>> 0 < mul1Low1 >>> 0)) | 0;
      mul1Low1 ^= Math.imul(v0Low1, v1High1);
      mul1High1 ^= multiplyHigh(v0Low1, v1High1);
      // Both: v0 += zip(v1); v1 += zip(v0)
      low = (v1Low0 >>> 24) | ((v1High1 & 0xff) << 8) | (v1Low0 & 0xff0000) | ((v1High0 << 16) & 0xff000000);
      high = ((v1High1 >>> 16) & 0xff) | (v1Low0 & 0xff00) | ((v1High1 >>> 8) & 0xff0000) | (v1Low0 << 24);
      v0Low0 = (v0Low0 + low) | 0;
      v0High0 = (v0High0 + high + +(v0Low0 >>> 0 < low >>> 0)) | 0;
      low = (v1Low1 >>> 24) | ((v1High0 & 0xff) << 8) | (v1Low1 & 0xff0000) | ((v1High1 << 16) & 0xff000000);
      high =
        ((v1Low1 >>> 8) & 0xff) |
        ((v1High0 >>> 8) & 0xff00) |
        ((v1Low1 & 0xff) << 16) |
        (v1High0 & 0xff000000);
      v0Low1 = (v0Low1 + low) | 0;
      v0High1 = (v0High1 + high + +(v0Low1 >>> 0 < low >>> 0)) | 0;
      low = (v0Low0 >>> 24) | ((v0High1 & 0xff) << 8) | (v0Low0 & 0xff0000) | ((v0High0 << 16) & 0xff000000);
      high = ((v0High1 >>> 16) & 0xff) | (v0Low0 & 0xff00) | ((v0High1 >>> 8) & 0xff0000) | (v0Low0 << 24);
      v1Low0 = (v1Low0 + low) | 0;
      v1High0 = (v1High0 + high + +(v1Low0 >>> 0 < low >>> 0)) | 0;
      low = (v0Low1 >>> 24) | ((v0High0 & 0xff) << 8) | (v0Low1 & 0xff0000) | ((v0High1 << 16) & 0xff000000);
      high =
        ((v0Low1 >>> 8) & 0xff) |
        ((v0High0 >>> 8) & 0xff00) |
        ((v0Low1 & 0xff) << 16) |
        (v0High0 & 0xff000000);
      v1Low1 = (v1Low1 + low) | 0;
      v1High1 = (v1High1 + high + +(v1Low1 >>> 0 < low >>> 0)) | 0;
      // Lanes 2 and 3. Each: v1 += mul0 + a; mul0 ^= low(v1) * high(v0); v0 += mul1; mul1 ^= low(v0) * high(v1)
      sum = (mul0Low2 + aLow2) | 0;
      aHigh2 = (mul0High2 + aHigh2 + +(sum >>> 0 < aLow2 >>> 0)) | 0;
      v1Low2 = (v1Low2 + sum) | 0;
      v1High2 = (v1High2 + aHigh2 + +(v1Low2 >>> 0 < sum >>> 0)) | 0;
      mul0Low2 ^= Math.imul(v1Low2, v0High2);
      mul0High2 ^= multiplyHigh(v1Low2, v0High2);
      v0Low2 = (v0Low2 + mul1Low2) | 0;
      v0High2 = (v0High2 + mul1High2 + +(v0Low2 >>> 0 < mul1Low2 >>> 0)) | 0;
      mul1Low2 ^= Math.imul(v0Low2, v1High2);
      mul1High2 ^= multiplyHigh(v0Low2, v1High2);
      sum = (mul0Low3 + aLow3) | 0;
      aHigh3 = (mul0High3 + aHigh3 + +(sum >>> 0 < aLow3 >>> 0)) | 0;
      v1Low3 = (v1Low3 + sum) | 0;
      v1High3 = (v1High3 + aHigh3 + +(v1Low3 >>> 0 < sum >>> 0)) | 0;
      mul0Low3 ^= Math.imul(v1Low3, v0High3);
      mul0High3 ^= multiplyHigh(v1Low3, v0High3);
      v0Low3 = (v0Low3 + mul1Low3) | 0;
      v0High3 = (v0High3 + mul1High3 + +(v0Low3 >>> 0 < mul1Low3 >>> 0)) | 0;
      mul1Low3 ^= Math.imul(v0Low3, v1High3);
      mul1High3 ^= multiplyHigh(v0Low3, v1High3);
      // Both: v0 += zip(v1); v1 += zip(v0)
      low = (v1Low2 >>> 24) | ((v1High3 & 0xff) << 8) | (v1Low2 & 0xff0000) | ((v1High2 << 16) & 0xff000000);
      high = ((v1High3 >>> 16) & 0xff) | (v1Low2 & 0xff00) | ((v1High3 >>> 8) & 0xff0000) | (v1Low2 << 24);
      v0Low2 = (v0Low2 + low) | 0;
      v0High2 = (v0High2 + high + +(v0Low2 >>> 0 < low >>> 0)) | 0;
      low = (v1Low3 >>> 24) | ((v1High2 & 0xff) << 8) | (v1Low3 & 0xff0000) | ((v1High3 << 16) & 0xff000000);
      high =
        ((v1Low3 >>> 8) & 0xff) |
        ((v1High2 >>> 8) & 0xff00) |
        ((v1Low3 & 0xff) << 16) |
        (v1High2 & 0xff000000);
      v0Low3 = (v0Low3 + low) | 0;
      v0High3 = (v0High3 + high + +(v0Low3 >>> 0 < low >>> 0)) | 0;
      low = (v0Low2 >>> 24) | ((v0High3 & 0xff) << 8) | (v0Low2 & 0xff0000) | ((v0High2 << 16) & 0xff000000);
      high = ((v0High3 >>> 16) & 0xff) | (v0Low2 & 0xff00) | ((v0High3 >>> 8) & 0xff0000) | (v0Low2 << 24);
      v1Low2 = (v1Low2 + low) | 0;
      v1High2 = (v1High2 + high + +(v1Low2 >>> 0 < low >>> 0)) | 0;
      low = (v0Low3 >>> 24) | ((v0High2 & 0xff) << 8) | (v0Low3 & 0xff0000) | ((v0High3 << 16) & 0xff000000);
      high =
        ((v0Low3 >>> 8) & 0xff) |
        ((v0High2 >>> 8) & 0xff00) |
        ((v0Low3 & 0xff) << 16) |
        (v0High2 & 0xff000000);
      v1Low3 = (v1Low3 + low) | 0;
      v1High3 = (v1High3 + high + +(v1Low3 >>> 0 < low >>> 0)) | 0;
    }
    sum = (v0Low0 >>> 0) + (mul0Low0 >>> 0) + (v1Low2 >>> 0) + (mul1Low2 >>> 0);
    this.firstLow = sum | 0;
    this.firstHigh = (v0High0 + mul0High0 + v1High2 + mul1High2 + Math.floor(sum / 0x100000000)) | 0;
    sum = (v0Low1 >>> 0) + (mul0Low1 >>> 0) + (v1Low3 >>> 0) + (mul1Low3 >>> 0);
    this.secondLow = sum | 0;
    this.secondHigh = (v0High1 + mul0High1 + v1High3 + mul1High3 + Math.floor(sum / 0x100000000)) | 0;
  }

  /** The packet of the last 1 to 31 bytes: whole words at its start; the others at its end or, of less than 16 bytes, in its middle. */
  private readRest(view: DataView, start: number, size: number): void {
    const { rest } = this;
    const wholeWords = size >>> 2;
    const odd = size & 3;
    for (let word = 0; word < rest.length; word++) {
      rest[word] = word < wholeWords ? view.getInt32(start + word * 4, true) : 0;
    }
    if (size >= 16) {
      rest[7] = view.getInt32(start + size - 4, true);
    } else if (odd !== 0) {
      const at = start + wholeWords * 4;
      rest[4] =
        view.getUint8(at) | (view.getUint8(at + (odd >>> 1)) << 8) | (view.getUint8(at + odd - 1) << 16);
    }
  }
}
