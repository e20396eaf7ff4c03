import type { BloomHistogram } from '../service/index.js';

/** A histogram that is being filled. */
export class BucketCounts implements BloomHistogram {
  readonly counts: number[];
  sum = 0;

  /** @param bounds inclusive upper bounds, ascending. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    this.counts[bucket === -1 ? this.bounds.length : bucket]!++;
    this.sum += value;
  }
}
