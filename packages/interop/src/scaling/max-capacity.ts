import type { ScalingOptions } from '../growing/index.js';

/** 250 to 320 MiB at the default error rate. Creates that fail must not fill the memory of Redis. */
const LEAST_MAX_CAPACITY = 100_000_000;

/** The options with the default of `maxCapacity` for a filter of this capacity. */
export function withMaxCapacity(options: ScalingOptions, capacity: number): ScalingOptions {
  const tenfold = Math.min(Math.floor(10 * capacity), Number.MAX_SAFE_INTEGER);
  // The capacity may be invalid here: a later check refuses it with an error of its own.
  const { maxCapacity = tenfold > LEAST_MAX_CAPACITY ? tenfold : LEAST_MAX_CAPACITY } = options;
  return { ...options, maxCapacity };
}
