import { Modulus } from './modulus.js';

/** Up to this many bits, the sum of two remainders fits a signed integer of 32 bits. */
const MAX_SMALL_BITS = 2 ** 30;

/** What a rule does with the 64-bit number c whose remainders are the positions. */
export interface DoubleHashingRule {
  /** The top bit of c is cleared before the remainder is taken; c itself goes on with it. */
  readonly clearsTopBit: boolean;
  /** c grows by the second number only, or by the second and the first in turn. */
  readonly alternates: boolean;
}

/** Positions by double hashing: c starts as the first 64-bit hash and grows modulo 2^64; a position is c mod bits. */
export class DoubleHashing {
  private readonly modulus: Modulus;
  private readonly highMask: number;
  private readonly alternatesMask: number;
  /** 2^63 mod bits where the top bit is cleared, else 0. */
  private readonly topBit: number;
  /** 2^64 mod bits. */
  private readonly overflow: number;

  constructor(bits: number, rule: DoubleHashingRule) {
    this.modulus = new Modulus(bits);
    this.highMask = rule.clearsTopBit ? 0x7fffffff : -1;
    this.alternatesMask = rule.alternates ? -1 : 0;
    this.topBit = rule.clearsTopBit ? this.modulus.remainder(1 << 31, 0) : 0;
    this.overflow = (this.modulus.remainder(-1, -1) + 1) % bits;
  }

  /** Puts all positions into `places`. The two hashes are given as halves of 32 bits. */
  fill(
    places: Float64Array,
    firstHigh: number,
    firstLow: number,
    secondHigh: number,
    secondLow: number,
  ): void {
    const { modulus, highMask, alternatesMask } = this;
    if (modulus.value <= MAX_SMALL_BITS) {
      this.fillSmall(places, firstHigh, firstLow, secondHigh, secondLow);
      return;
    }
    let high = firstHigh;
    let low = firstLow;
    for (let i = 0; i < places.length; i++) {
      places[i] = modulus.remainder(high & highMask, low);
      const usesFirst = (i & 1 & alternatesMask) !== 0;
      const step = usesFirst ? firstLow : secondLow;
      low = (low + step) | 0;
      high = (high + (usesFirst ? firstHigh : secondHigh) + +(low >>> 0 < step >>> 0)) | 0;
    }
  }

  /**
   * Divides the two hashes only: their remainders are added along with c, less 2^64 mod bits when c overflows. Masks instead of
   * branches, which would be taken at random.
   */
  private fillSmall(
    places: Float64Array,
    firstHigh: number,
    firstLow: number,
    secondHigh: number,
    secondLow: number,
  ): void {
    const { modulus, topBit, overflow, alternatesMask } = this;
    const bits = modulus.value | 0;
    const first = modulus.remainder(firstHigh, firstLow) | 0;
    const second = modulus.remainder(secondHigh, secondLow) | 0;
    // The same less 2^64 mod bits.
    const firstOver = (first - overflow + (bits & ((first - overflow) >> 31))) | 0;
    const secondOver = (second - overflow + (bits & ((second - overflow) >> 31))) | 0;
    let high = firstHigh | 0;
    let low = firstLow | 0;
    let rest = first;
    for (let i = 0; i < places.length; i++) {
      const place = (rest - (topBit & (high >> 31))) | 0;
      places[i] = place + (bits & (place >> 31));
      const usesFirst = -(i & 1) & alternatesMask;
      const stepLow = secondLow ^ ((secondLow ^ firstLow) & usesFirst);
      const stepHigh = secondHigh ^ ((secondHigh ^ firstHigh) & usesFirst);
      low = (low + stepLow) | 0;
      const sum = (high + stepHigh + +(low >>> 0 < stepLow >>> 0)) | 0;
      const overflowed = ((high & stepHigh) | ((high | stepHigh) & ~sum)) >> 31;
      high = sum;
      const step = second ^ ((second ^ first) & usesFirst);
      const stepOver = secondOver ^ ((secondOver ^ firstOver) & usesFirst);
      rest = (rest + (step ^ ((step ^ stepOver) & overflowed)) - bits) | 0;
      rest = (rest + (bits & (rest >> 31))) | 0;
    }
  }
}
