import { describe, expect, it } from '@jest/globals';
import { ERROR_RATE, mostLetThrough } from './attack-share.js';

describe('How many absent ids an attack may get through', () => {
  it('is one and a half times the error rate where chance alone cannot exceed that', () => {
    expect(mostLetThrough(194_000)).toBe(1.5 * ERROR_RATE * 194_000);
    expect(mostLetThrough(1e6)).toBe(1500);
  });

  it('is what chance exceeds once in 10^9 runs where lookups are fewer', () => {
    for (const asked of [0, 100, 1000, 10_000, 100_000]) {
      const most = mostLetThrough(asked);
      expect(most).toBeGreaterThan(1.5 * ERROR_RATE * asked);
      expect(chanceOfMore(most, asked)).toBeLessThan(1e-9);
    }
  });
});

/** Tail of a binomial distribution, term by term. */
function chanceOfMore(most: number, asked: number): number {
  let term = (1 - ERROR_RATE) ** asked;
  let sum = 0;
  for (let n = 0; n <= Math.min(asked, 3 * most); n++) {
    if (n > most) sum += term;
    term *= ((asked - n) / (n + 1)) * (ERROR_RATE / (1 - ERROR_RATE));
  }
  return sum;
}
