/** Error rate of the filter under attack, as by default. */
export const ERROR_RATE = 0.001;
/** What is claimed of leased copies, in error rates. */
const CLAIMED = 1.5;
/** Chance exceeds a limit once in 10^9 runs. */
const LN_RARITY = Math.log(1e9);

/**
 * How many of so many different ids that are absent may be let through.
 *
 * Each passes the filter with a chance of `ERROR_RATE` at most, so their number has a binomial distribution
 * with a mean of m = `ERROR_RATE` × `asked` at most. By the inequality of Bernstein it is m + t or more with
 * a chance of no more than exp(-t² / (2 (m + t / 3))). That is 10^-9 for t = L / 3 + √(L² / 9 + 2 L m) with L
 * = ln 10^9. From 194,000 lookups on t is less than half of m, and the claim alone counts.
 */
export function mostLetThrough(asked: number): number {
  const mean = ERROR_RATE * asked;
  const third = LN_RARITY / 3;
  return Math.max(CLAIMED * mean, mean + third + Math.sqrt(third ** 2 + 2 * LN_RARITY * mean));
}
