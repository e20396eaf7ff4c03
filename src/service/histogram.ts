import type { BloomHistogram } from './metrics.js';

/** Upper bounds for lookups that this process answers alone, in milliseconds: 0.2 µs to 1 ms. */
export const LOCAL_BOUNDS_MS: readonly number[] = [
  0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1,
];
/** Upper bounds for calls to the store, in milliseconds. */
export const REMOTE_BOUNDS_MS: readonly number[] = [
  0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000,
];
/** Upper bounds for the ids of one call to the store. */
export const BATCH_BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2048];

/** Counts observations by size. */
export class Histogram {
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds inclusive upper bounds, ascending. */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const { bounds } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sum += value;
  }

  snapshot(): BloomHistogram {
    return { bounds: this.bounds, counts: [...this.counts], sum: this.sum };
  }
}
