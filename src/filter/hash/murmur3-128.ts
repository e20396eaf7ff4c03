import type { ByteSink } from '../id/byte-sink.js';
import { multiplyHigh } from './multiply-high.js';

// The two constants of the algorithm as halves of 32 bits.
const C1_HIGH = 0x87c37b91 | 0;
const C1_LOW = 0x114253d5;
const C2_HIGH = 0x4cf5ad43;
const C2_LOW = 0x2745937f;

const BLOCK_BYTES = 16;
const HALF_BYTES = 8;
const TWO_32 = 2 ** 32;

/**
 * MurmurHash3 x64 128 with seed 0 (A. Appleby, public domain): two 64-bit numbers, each left in two halves, since a return
 * value would be an allocation.
 *
 * Few long methods instead of many short ones: V8 stops inlining after so much, and a call for each product is twice the time.
 */
export class Murmur3 {
  h1High = 0;
  h1Low = 0;
  h2High = 0;
  h2Low = 0;

  // After the whole blocks of what was absorbed.
  private state1High = 0;
  private state1Low = 0;
  private state2High = 0;
  private state2Low = 0;
  // Of the rest, which is less than a block: the half that its end is in, times its constant; the other half, mixed.
  private productHigh = 0;
  private productLow = 0;
  private mixedHigh = 0;
  private mixedLow = 0;
  // What the product grows by when a byte behind the rest does.
  private stepHigh = 0;
  private stepLow = 0;
  private length = 0;
  private readonly result = new Int32Array(2);

  /** The bytes must be padded. */
  hash(bytes: ByteSink): void {
    this.absorb(bytes);
    this.finish(this.result, 0, 1, 0);
  }

  /** Takes in what the hashes of `finishWithSuffixes` begin with. The bytes must be padded. */
  absorb({ view, length }: ByteSink): void {
    const rest = length % BLOCK_BYTES;
    const whole = length - rest;
    this.absorbBlocks(view, whole);
    this.length = length;
    const endsInFirst = rest < HALF_BYTES;
    // The half with the end: k * C1 or k * C2.
    const cHigh = endsInFirst ? C1_HIGH : C2_HIGH;
    const cLow = endsInFirst ? C1_LOW : C2_LOW;
    const at = endsInFirst ? whole : whole + HALF_BYTES;
    const kLow = view.getInt32(at, true);
    const kHigh = view.getInt32(at + 4, true);
    this.productHigh = (multiplyHigh(kLow, cLow) + Math.imul(kHigh, cLow) + Math.imul(kLow, cHigh)) | 0;
    this.productLow = Math.imul(kLow, cLow);
    const shift = (rest % HALF_BYTES) * 8;
    const crossing = shift === 0 ? 0 : cLow >>> (32 - shift);
    this.stepHigh = shift < 32 ? (cHigh << shift) | crossing : cLow << (shift - 32);
    this.stepLow = shift < 32 ? cLow << shift : 0;
    // The other half: the second is nothing then, the first is rotl(k * C1, 31) * C2.
    this.mixedHigh = 0;
    this.mixedLow = 0;
    if (endsInFirst) return;
    const otherLow = view.getInt32(whole, true);
    const otherHigh = view.getInt32(whole + 4, true);
    const low = Math.imul(otherLow, C1_LOW);
    const high = multiplyHigh(otherLow, C1_LOW) + Math.imul(otherHigh, C1_LOW) + Math.imul(otherLow, C1_HIGH);
    const rotatedHigh = (high << 31) | (low >>> 1);
    const rotatedLow = (low << 31) | (high >>> 1);
    this.mixedHigh =
      (multiplyHigh(rotatedLow, C2_LOW) + Math.imul(rotatedHigh, C2_LOW) + Math.imul(rotatedLow, C2_HIGH)) |
      0;
    this.mixedLow = Math.imul(rotatedLow, C2_LOW);
  }

  /**
   * The first halves of the hashes of what was absorbed followed by the byte i, for i from `from` to below `to`: high and low at 2i
   * and 2i + 1. After `absorb` it begins with 0, each further time where it ended.
   */
  finishWithSuffixes(halves: Int32Array, from: number, to: number): void {
    this.finish(halves, from, to, 1);
  }

  private finish(halves: Int32Array, from: number, to: number, suffixBytes: number): void {
    const { stepHigh, stepLow } = this;
    const length = this.length + suffixBytes;
    const endsInFirst = this.length % BLOCK_BYTES < HALF_BYTES;
    const isWhole = suffixBytes === 1 && length % BLOCK_BYTES === 0;
    let { productHigh, productLow } = this;
    for (let i = from; i < to; i++) {
      // h1 ^= rotl(k1 * C1, 31) * C2; h2 ^= rotl(k2 * C2, 33) * C1
      const rotatedHigh = endsInFirst
        ? (productHigh << 31) | (productLow >>> 1)
        : (productLow << 1) | (productHigh >>> 31);
      const rotatedLow = endsInFirst
        ? (productLow << 31) | (productHigh >>> 1)
        : (productHigh << 1) | (productLow >>> 31);
      const cHigh = endsInFirst ? C2_HIGH : C1_HIGH;
      const cLow = endsInFirst ? C2_LOW : C1_LOW;
      const mixedHigh =
        multiplyHigh(rotatedLow, cLow) + Math.imul(rotatedHigh, cLow) + Math.imul(rotatedLow, cHigh);
      const mixedLow = Math.imul(rotatedLow, cLow);
      let h1High = this.state1High ^ (endsInFirst ? mixedHigh : this.mixedHigh);
      let h1Low = this.state1Low ^ (endsInFirst ? mixedLow : this.mixedLow);
      let h2High = this.state2High ^ (endsInFirst ? 0 : mixedHigh);
      let h2Low = this.state2Low ^ (endsInFirst ? 0 : mixedLow);
      if (isWhole) {
        this.h2High = this.state2High;
        this.h2Low = this.state2Low;
        this.endBlock(h1High, h1Low, h2High, h2Low);
        ({ h1High, h1Low, h2High, h2Low } = this);
      }
      h1Low ^= length;
      h2Low ^= length;
      // h1 += h2; h2 += h1
      h1Low = (h1Low + h2Low) | 0;
      h1High = (h1High + h2High + +(h1Low >>> 0 < h2Low >>> 0)) | 0;
      h2Low = (h2Low + h1Low) | 0;
      h2High = (h2High + h1High + +(h2Low >>> 0 < h1Low >>> 0)) | 0;
      // Both: h ^= h >>> 33; h *= 0xff51afd7ed558ccd; h ^= h >>> 33; h *= 0xc4ceb9fe1a85ec53; h ^= h >>> 33
      h1Low ^= h1High >>> 1;
      h2Low ^= h2High >>> 1;
      h1High =
        (multiplyHigh(h1Low, 0xed558ccd) + Math.imul(h1High, 0xed558ccd) + Math.imul(h1Low, 0xff51afd7)) | 0;
      h2High =
        (multiplyHigh(h2Low, 0xed558ccd) + Math.imul(h2High, 0xed558ccd) + Math.imul(h2Low, 0xff51afd7)) | 0;
      h1Low = Math.imul(h1Low, 0xed558ccd) ^ (h1High >>> 1);
      h2Low = Math.imul(h2Low, 0xed558ccd) ^ (h2High >>> 1);
      h1High =
        (multiplyHigh(h1Low, 0x1a85ec53) + Math.imul(h1High, 0x1a85ec53) + Math.imul(h1Low, 0xc4ceb9fe)) | 0;
      h2High =
        (multiplyHigh(h2Low, 0x1a85ec53) + Math.imul(h2High, 0x1a85ec53) + Math.imul(h2Low, 0xc4ceb9fe)) | 0;
      h1Low = Math.imul(h1Low, 0x1a85ec53) ^ (h1High >>> 1);
      h2Low = Math.imul(h2Low, 0x1a85ec53) ^ (h2High >>> 1);
      // h1 += h2; h2 += h1
      this.h1Low = (h1Low + h2Low) | 0;
      this.h1High = (h1High + h2High + +(this.h1Low >>> 0 < h2Low >>> 0)) | 0;
      this.h2Low = (h2Low + this.h1Low) | 0;
      this.h2High = (h2High + this.h1High + +(this.h2Low >>> 0 < this.h1Low >>> 0)) | 0;
      halves[2 * i] = this.h1High;
      halves[2 * i + 1] = this.h1Low;
      productLow = (productLow + stepLow) | 0;
      productHigh = (productHigh + stepHigh + +(productLow >>> 0 < stepLow >>> 0)) | 0;
    }
    this.productHigh = productHigh;
    this.productLow = productLow;
  }

  private absorbBlocks(view: DataView, whole: number): void {
    this.h1High = 0;
    this.h1Low = 0;
    this.h2High = 0;
    this.h2Low = 0;
    for (let at = 0; at < whole; at += BLOCK_BYTES) {
      // h1 ^= rotl(k1 * C1, 31) * C2
      let kLow = view.getInt32(at, true);
      let kHigh = view.getInt32(at + 4, true);
      let low = Math.imul(kLow, C1_LOW);
      let high = multiplyHigh(kLow, C1_LOW) + Math.imul(kHigh, C1_LOW) + Math.imul(kLow, C1_HIGH);
      kHigh = (high << 31) | (low >>> 1);
      kLow = (low << 31) | (high >>> 1);
      high = multiplyHigh(kLow, C2_LOW) + Math.imul(kHigh, C2_LOW) + Math.imul(kLow, C2_HIGH);
      const h1High = this.h1High ^ high;
      const h1Low = this.h1Low ^ Math.imul(kLow, C2_LOW);
      // h2 ^= rotl(k2 * C2, 33) * C1
      kLow = view.getInt32(at + 8, true);
      kHigh = view.getInt32(at + 12, true);
      low = Math.imul(kLow, C2_LOW);
      high = multiplyHigh(kLow, C2_LOW) + Math.imul(kHigh, C2_LOW) + Math.imul(kLow, C2_HIGH);
      kHigh = (low << 1) | (high >>> 31);
      kLow = (high << 1) | (low >>> 31);
      high = multiplyHigh(kLow, C1_LOW) + Math.imul(kHigh, C1_LOW) + Math.imul(kLow, C1_HIGH);
      this.endBlock(h1High, h1Low, this.h2High ^ high, this.h2Low ^ Math.imul(kLow, C1_LOW));
    }
    this.state1High = this.h1High;
    this.state1Low = this.h1Low;
    this.state2High = this.h2High;
    this.state2Low = this.h2Low;
  }

  /** What follows a block's mixing in; the second number that is added to the first is the one before the block. */
  private endBlock(h1High: number, h1Low: number, h2High: number, h2Low: number): void {
    // h1 = (rotl(h1, 27) + h2) * 5 + 0x52dce729
    let rotatedLow = (h1Low << 27) | (h1High >>> 5);
    let low = (rotatedLow + this.h2Low) | 0;
    let high = ((h1High << 27) | (h1Low >>> 5)) + this.h2High + +(low >>> 0 < rotatedLow >>> 0);
    let sum = (low >>> 0) * 5 + 0x52dce729;
    this.h1High = (Math.imul(high, 5) + Math.floor(sum / TWO_32)) | 0;
    this.h1Low = sum | 0;
    // h2 = (rotl(h2, 31) + h1) * 5 + 0x38495ab5
    rotatedLow = (h2Low << 31) | (h2High >>> 1);
    low = (rotatedLow + this.h1Low) | 0;
    high = ((h2High << 31) | (h2Low >>> 1)) + this.h1High + +(low >>> 0 < rotatedLow >>> 0);
    sum = (low >>> 0) * 5 + 0x38495ab5;
    this.h2High = (Math.imul(high, 5) + Math.floor(sum / TWO_32)) | 0;
    this.h2Low = sum | 0;
  }
}
