import type { Clock } from '../common/index.js';

/** Judged calls over which running ones are averaged; the last of them is timed. */
const WINDOW_CALLS = 64;
/** A window with more unjudged calls than this, and the one after it, do not show what is usual. */
const MOST_UNJUDGED = 8;
/** A call that runs for longer than two periods counts no more: it may never end. */
const PERIOD_MS = 10_000;
/** What was usual counts half after this time, where less has been seen since. */
const HALF_LIFE_MS = 30 * 60_000;
/** Share of a timed call in what calls usually take. */
const TIMED_SHARE = 0.1;
/** Unjudged calls after which the limit is looked at. */
const UNJUDGED_CALLS = 16;

/** So many times the usual running calls may be unjudged ones: twice the usual load has room to vary. */
const FACTOR = 3;
/** The limit is no lower than this while the methods are not slow. */
const FLOOR = 4;
/** The most, also where nothing is known of the usual load. */
const CEILING = 1000;
/** Methods are slow when they take so many times as long as usual, and this much longer. */
const SLOW_TIMES = 2;
const SLOW_MS = 5;
const SHRINK = 0.75;
/** From this share of calls that found a row on, they are lookups of real users. */
const FOUND_SHARE = 0.5;
const GROWTH = 1.25;

/**
 * What guarded methods take while the filter can judge, and how many lookups may run at once while it cannot.
 *
 * The limit is three times the mean number of running calls that was usual, and four at least. While most of
 * these lookups find a row they are real users, and it grows unless the methods are slow. Otherwise slow
 * methods shrink it to three times the usual, or to one. Where the filter has never judged, only the ceiling
 * holds, until the methods become slower than they were.
 */
export class UsualLoad {
  /** Judged calls that run: those that began in this period, and in the one before it. */
  private running = 0;
  private runningBefore = 0;
  /** The number of this period, from 1 on, and when it and the one before it began. */
  private period = 1;
  private periodAt = -Infinity;
  private periodBeforeAt = -Infinity;
  private arrivals = 0;
  private seen = 0;
  private unjudged = 0;
  /** Those of the window before. */
  private unjudgedBefore = 0;
  /** Running calls, the mean over time. */
  private usual = 0;
  private usualAt = -Infinity;
  /** Undefined: the filter has not judged. */
  private usualMs: number | undefined;

  private ended = 0;
  /** Those that found a row, or found none. */
  private clear = 0;
  private found = 0;
  private totalMs = 0;
  private leastMs = Infinity;
  /** Undefined: as high as the usual load allows. */
  private moved: number | undefined;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  /**
   * Called as a judged call begins; returns when that was for calls that are timed. For others it returns a
   * negative number, by which `end` finds their period.
   */
  begin(): number {
    // The mean of what arrivals see is the mean over time, where they come at random.
    this.seen += this.running + this.runningBefore;
    const startedAt = ++this.arrivals >= WINDOW_CALLS ? this.endWindow() : -this.period;
    this.running++;
    return startedAt;
  }

  /** Called as a judged call ends, with what `begin` has returned. */
  end(startedAt: number): void {
    const isTimed = startedAt >= 0;
    if (isTimed ? startedAt >= this.periodAt : -startedAt === this.period) this.running--;
    else if (isTimed ? startedAt >= this.periodBeforeAt : -startedAt === this.period - 1)
      this.runningBefore--;
    if (!isTimed || this.isDisturbed) return;
    const ms = this.clock.now() - startedAt;
    this.usualMs = this.usualMs === undefined ? ms : this.usualMs + TIMED_SHARE * (ms - this.usualMs);
  }

  /** How many unjudged calls may run at once. */
  get limit(): number {
    return this.moved ?? this.highest;
  }

  /** Called as an unjudged call begins: what runs beside many of them is not what is usual. */
  beginUnjudged(): void {
    this.unjudged++;
  }

  /**
   * Called as an unjudged call ends.
   *
   * @param running unjudged calls that run, this one included.
   * @param isFound whether it found a row that no hint has named; undefined where that is not clear.
   */
  endUnjudged(ms: number, running: number, isFound: boolean | undefined): void {
    this.totalMs += ms;
    if (isFound !== undefined) this.clear++;
    if (isFound) this.found++;
    if (++this.ended < UNJUDGED_CALLS) return;
    const meanMs = this.totalMs / this.ended;
    const { clear } = this;
    const areFound = clear > 0 && this.found >= FOUND_SHARE * clear;
    this.ended = this.clear = this.found = this.totalMs = 0;
    const usualMs = this.usualMs ?? this.leastMs;
    this.leastMs = Math.min(this.leastMs, meanMs);
    const { limit } = this;
    const isSlow = meanMs > SLOW_TIMES * usualMs + SLOW_MS;
    if (areFound) this.moved = isSlow ? limit : Math.min(CEILING, GROWTH * limit + 1);
    else if (isSlow) this.moved = Math.max(this.lowest, SHRINK * Math.min(limit, Math.max(running, 1)));
    else if (clear > 0) this.moved = Math.min(this.highest, limit + 1);
  }

  private get isDisturbed(): boolean {
    return Math.max(this.unjudged, this.unjudgedBefore) > MOST_UNJUDGED;
  }

  private get lowest(): number {
    return Math.max(1, FACTOR * this.usual);
  }

  private get highest(): number {
    return this.usualMs === undefined ? CEILING : Math.min(CEILING, Math.max(FLOOR, this.lowest));
  }

  private endWindow(): number {
    const now = this.clock.now();
    if (!this.isDisturbed) {
      const faded = this.usual * 0.5 ** ((now - this.usualAt) / HALF_LIFE_MS);
      this.usual = Math.max(faded, this.seen / this.arrivals);
      this.usualAt = now;
      this.moved = undefined;
    }
    if (now - this.periodAt >= PERIOD_MS) {
      this.runningBefore = this.running;
      this.running = 0;
      this.period++;
      this.periodBeforeAt = this.periodAt;
      this.periodAt = now;
    }
    this.unjudgedBefore = this.unjudged;
    this.arrivals = this.seen = this.unjudged = 0;
    return now;
  }
}
