/** 32 TiB: beyond what any of the peers can store, and small enough for exact arithmetic in doubles. */
export const MAX_MODULUS = 2 ** 48;

/** Remainders of unsigned 64-bit integers, which come as two halves of 32 bits, without big integers. */
export class Modulus {
  private readonly inverse: number;
  /**
   * Whether one division will do: the quotient, below 2^51, is wrong by one at most, and the remainder fits
   * 32 bits.
   */
  private readonly isMedium: boolean;
  /** Bits of the lower half taken in at once otherwise, so that what is divided stays below 2^52. */
  private readonly step: number;

  /** @param value from 1 to `MAX_MODULUS` */
  constructor(readonly value: number) {
    this.inverse = 1 / value;
    this.isMedium = value >= 2 ** 13 && value <= 2 ** 30;
    this.step = [32, 16, 8].find((step) => value * 2 ** step <= 2 ** 52) ?? 4;
  }

  remainder(high: number, low: number): number {
    if (!this.isMedium) return this.remainderBySteps(high, low);
    const { value } = this;
    const quotient = Math.floor(((high >>> 0) * 0x100000000 + (low >>> 0)) * this.inverse);
    // Modulo 2^32 from here on.
    let rest = (low - Math.imul(quotient | 0, value)) | 0;
    rest = (rest + (value & (rest >> 31)) - value) | 0;
    return rest + (value & (rest >> 31));
  }

  private remainderBySteps(high: number, low: number): number {
    const { step } = this;
    let rest = this.reduced(high >>> 0);
    if (step === 32) return this.reduced(rest * 0x100000000 + (low >>> 0));
    const base = 2 ** step;
    for (let shift = 32 - step; shift >= 0; shift -= step) {
      rest = this.reduced(rest * base + ((low >>> shift) & (base - 1)));
    }
    return rest;
  }

  /** Reduces an integer below 2^52. The quotient by the inverse is right, or wrong by one. */
  private reduced(value: number): number {
    const rest = value - Math.floor(value * this.inverse) * this.value;
    if (rest < 0) return rest + this.value;
    return rest < this.value ? rest : rest - this.value;
  }
}

/** Up to this many bits, the sum of two remainders fits a signed integer of 32 bits. */
const MAX_SMALL_BITS = 2 ** 30;

/** What a rule does with the 64-bit number c whose remainders are the positions. */
interface DoubleHashingRule {
  /** The top bit of c is cleared before the remainder is taken; c itself goes on with it. */
  readonly clearsTopBit: boolean;
  /** c grows by the second number only, or by the second and the first in turn. */
  readonly alternates: boolean;
}

/**
 * Positions by double hashing: c starts as the first 64-bit hash and grows modulo 2^64; a position is c mod
 * bits.
 */
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
   * Divides the two hashes only: their remainders are added along with c, less 2^64 mod bits when c
   * overflows. Masks instead of branches, which would be taken at random.
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
