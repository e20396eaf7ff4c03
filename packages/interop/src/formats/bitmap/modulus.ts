/** 32 TiB: beyond what any of the peers can store, and small enough for exact arithmetic in doubles. */
export const MAX_MODULUS = 2 ** 48;

/** Remainders of unsigned 64-bit integers, which come as two halves of 32 bits, without big integers. */
export class Modulus {
  private readonly inverse: number;
  /** Whether one division will do: the quotient, below 2^51, is wrong by one at most, and the remainder fits 32 bits. */
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

  /** Of an integer below 2^52. The quotient by the inverse is right, or wrong by one. */
  private reduced(value: number): number {
    const rest = value - Math.floor(value * this.inverse) * this.value;
    if (rest < 0) return rest + this.value;
    return rest < this.value ? rest : rest - this.value;
  }
}
