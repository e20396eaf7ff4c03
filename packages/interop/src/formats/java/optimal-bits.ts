import { naturalLogarithm } from './logarithm.js';

/** -n ln p / ln² 2 cut off to an integer, in the order in which the peers in Java calculate it. */
export function optimalBits(capacity: number, errorRate: number): number {
  return Math.trunc((-capacity * naturalLogarithm(errorRate)) / (Math.LN2 * Math.LN2));
}

/** (m / n) ln 2 rounded, at least 1. */
export function optimalHashCount(capacity: number, bits: number): number {
  return Math.max(1, Math.round((bits / capacity) * Math.LN2));
}
