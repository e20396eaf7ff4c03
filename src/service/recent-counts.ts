import type { Clock } from '../common/index.js';
import type { BloomFilterMetrics } from './metrics.js';

const BUCKET_MS = 15_000;
/** Whole buckets that are looked back on, beside the one that is being filled: five minutes. */
const BUCKETS = 20;
/** Before this there is too little to judge by. */
const FIRST_AFTER_MS = 60_000;

/** What the guards of a filter have seen in the last minutes. No timer: a bucket is begun by what falls into it, or by whoever reads. */
export class RecentCounts {
  private readonly absents = new Float64Array(BUCKETS + 1);
  private readonly found = new Float64Array(BUCKETS + 1);
  private readonly startedAt: number;
  /** Number of the bucket that is being filled, from the start on. */
  private current = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {
    this.startedAt = clock.now();
  }

  noteAbsent(): void {
    this.absents[this.bucket()]!++;
  }

  noteFoundNothing(): void {
    this.found[this.bucket()]!++;
  }

  snapshot(): BloomFilterMetrics['recent'] {
    this.bucket();
    const sinceStartMs = this.clock.now() - this.startedAt;
    if (sinceStartMs < FIRST_AFTER_MS) return undefined;
    const windowMs = sinceStartMs - Math.max(0, this.current - BUCKETS) * BUCKET_MS;
    const absent = sumOf(this.absents);
    const foundNothing = sumOf(this.found);
    const withoutRow = absent + foundNothing;
    return {
      windowMs: Math.round(windowMs),
      absent,
      foundNothing,
      letThroughRate: withoutRow > 0 ? foundNothing / withoutRow : undefined,
    };
  }

  /** The place of the bucket of now. */
  private bucket(): number {
    const number = Math.floor((this.clock.now() - this.startedAt) / BUCKET_MS);
    if (number > this.current) {
      const passed = Math.min(number - this.current, BUCKETS + 1);
      for (let i = 0; i < passed; i++) {
        const place = (number - i) % (BUCKETS + 1);
        this.absents[place] = 0;
        this.found[place] = 0;
      }
      this.current = number;
    }
    return this.current % (BUCKETS + 1);
  }
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
