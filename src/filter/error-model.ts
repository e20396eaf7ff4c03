/**
 * From this many bits on, the variance is taken from its limit: the exact formula would be lost in rounding.
 */
const MANY_BITS = 2 ** 16;

/**
 * The chance that an absent id passes a row of bits to which `ids` ids were added, of `hashCount` bits each.
 *
 * n = k · ids bits were thrown at b places; a share F of them is set, and an absent id passes with
 * E[F^k] ≈ E[F]^k (1 + k(k-1)/2 · Var[F]/E[F]²), the moments being those of the occupancy problem.
 */
export function falsePositiveRate(row: { bits: number; hashCount: number; ids: number }): number {
  const { bits: b, hashCount: k, ids } = row;
  if (ids === 0) return 0;
  const unset = (1 - 1 / b) ** (k * ids);
  const fill = b < MANY_BITS ? 1 - unset : -Math.expm1(k * ids * Math.log1p(-1 / b));
  const variance =
    b < MANY_BITS
      ? unset / b + (1 - 1 / b) * (1 - 2 / b) ** (k * ids) - unset * unset
      : (unset * (fill - (unset * k * ids) / b)) / b;
  return Math.min(1, fill ** k * (1 + ((k * (k - 1)) / 2) * (variance / (fill * fill))));
}

/** The chance that one of several independent errors is made. */
export function anyError(rates: readonly number[]): number {
  const logarithmOfNone = rates.reduce((sum, rate) => sum + Math.log1p(-rate), 0);
  return logarithmOfNone === 0 ? 0 : -Math.expm1(logarithmOfNone);
}
