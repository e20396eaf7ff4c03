import type { Clock } from '../common/index.js';
import type { BloomFilterMetrics } from './metrics.js';

const BUCKET_MS = 15_000;
/** Whole buckets that are looked back on, beside the one that is being filled: five minutes. */
const BUCKETS = 20;
/** Before this there is too little to judge by. */
const FIRST_AFTER_MS = 60_000;

/** Calls once after a time, and does not keep the process from ending. */
const afterMs = (ms: number, run: () => void): void => void setTimeout(run, ms).unref();

/**
 * What the guards of a filter have seen in the last minutes. A bucket is begun by what falls into it, or by whoever reads, and a timer ends it: a count that
 * reads the clock takes a third longer than the check that it counts.
 */
export class RecentCounts {
  private readonly absents = new Float64Array(BUCKETS + 1);
  private readonly found = new Float64Array(BUCKETS + 1);
  private readonly startedAt: number;
  /** Number of the bucket that is being filled, from the start on. */
  private current = 0;
  /** The place of that bucket. */
  private place = 0;
  /** Whether a timer will end it. */
  private isOpen = false;

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly later = afterMs,
  ) {
    this.startedAt = clock.now();
  }

  noteAbsent(): void {
    if (!this.isOpen) this.open();
    this.absents[this.place]!++;
  }

  noteFoundNothing(): void {
    if (!this.isOpen) this.open();
    this.found[this.place]!++;
  }

  snapshot(): BloomFilterMetrics['recent'] {
    const sinceStartMs = this.turn();
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

  private open(): void {
    const sinceStartMs = this.turn();
    this.isOpen = true;
    this.later(BUCKET_MS - (sinceStartMs % BUCKET_MS), () => (this.isOpen = false));
  }

  /** Makes the bucket of this moment the current one; returns the milliseconds since the start. */
  private turn(): number {
    const sinceStartMs = this.clock.now() - this.startedAt;
    const number = Math.floor(sinceStartMs / BUCKET_MS);
    if (number > this.current) {
      const passed = Math.min(number - this.current, BUCKETS + 1);
      for (let i = 0; i < passed; i++) {
        const place = (number - i) % (BUCKETS + 1);
        this.absents[place] = 0;
        this.found[place] = 0;
      }
      this.current = number;
      this.place = number % (BUCKETS + 1);
    }
    return sinceStartMs;
  }
}

function sumOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
