import {
  type BloomUnknownReason,
  type LookupOutcome,
  type StoreRecorder,
  UNKNOWN_REASONS,
} from '../store/index.js';
import type {
  BloomCopyWaits,
  BloomFilterMetrics,
  BloomHistogram,
  BloomMethodMetrics,
  BloomUnknownCounts,
} from './metrics.js';
import type { Clock } from '../common/index.js';

/** Methods of a filter that are counted apart; the others together, since classes may be made at run time. */
export const MAX_METHODS = 500;
/** Stands for the methods beyond `MAX_METHODS`. */
export const OTHER_METHODS = '(others)';

/** How many lookups were `unknown`, by the reason. */
export type UnknownCounts = Record<BloomUnknownReason, number>;

/** What one guarded method has seen of one filter. */
export interface MethodCounts {
  /** The counts these belong to. */
  readonly of: object;
  readonly method: string;
  absent: number;
  maybe: number;
  readonly unknown: UnknownCounts;
  remembered: number;
  /** Calls that were answered without the method, and ids that a method with a list was not given. */
  saved: number;
  foundNothing: number;
  /** Absent answers that go to the method before the guard blocks any; `BLOCKS_NONE` for ever. */
  trial: number;
  /** Number of the build in which an absent answer was wrong first; undefined where none was. */
  wrongIn: number | undefined;
}

/** The trial of a guard that was wrong about rows, and that no rebuild has mended. */
export const BLOCKS_NONE = -1;

/** A guarded method, as its decorator or its batch names it. */
export interface CountedMethod {
  /** For people: `ProductController.findOne`. */
  readonly method: string;
  /** The counts that were found last: nearly always one application in a process calls a method. */
  readonly counted: { last: MethodCounts | undefined };
}

/** The counts of each guarded method of one filter. */
export class MethodCountsByName {
  /** Names these counts without holding them: a decorator lives longer than the application. */
  private readonly token: object = {};
  private readonly byName = new Map<string, MethodCounts>();

  /** @param trial with which each method begins. */
  constructor(private readonly trial = 0) {}

  of({ method, counted }: CountedMethod): MethodCounts {
    const { last } = counted;
    if (last !== undefined && last.of === this.token) return last;
    return (counted.last = this.named(method));
  }

  /** Begins the trial of each method once more. */
  tryAgain(): void {
    for (const counts of this.byName.values()) if (counts.trial !== BLOCKS_NONE) counts.trial = this.trial;
  }

  all(): BloomMethodMetrics[] {
    return [...this.byName.values()].map((counts) => ({
      method: counts.method,
      absent: counts.absent,
      maybe: counts.maybe,
      unknown: { ...counts.unknown },
      remembered: counts.remembered,
      saved: counts.saved,
      foundNothing: counts.foundNothing,
    }));
  }

  total(count: 'absent' | 'maybe'): number {
    let sum = 0;
    for (const counts of this.byName.values()) sum += counts[count];
    return sum;
  }

  named(method: string): MethodCounts {
    const { byName } = this;
    const known = byName.get(method);
    if (known) return known;
    const name = byName.size < MAX_METHODS ? method : OTHER_METHODS;
    const counts = byName.get(name) ?? newCounts(this.token, name, this.trial);
    byName.set(name, counts);
    return counts;
  }
}

export function noUnknowns(): UnknownCounts {
  return Object.fromEntries(UNKNOWN_REASONS.map((reason) => [reason, 0])) as UnknownCounts;
}

export function totalOf(unknown: BloomUnknownCounts): number {
  return Object.values(unknown).reduce((sum, count) => sum + count, 0);
}

function newCounts(of: object, method: string, trial: number): MethodCounts {
  return {
    of,
    method,
    absent: 0,
    maybe: 0,
    unknown: noUnknowns(),
    remembered: 0,
    saved: 0,
    foundNothing: 0,
    trial,
    wrongIn: undefined,
  };
}

/** What the store has done for one filter in this process. */
export class LookupCounts implements StoreRecorder {
  local = 0;
  private remote = 0;
  private waits = { adds: 0, ms: 0 };
  private readonly reasons: UnknownCounts = noUnknowns();
  private readonly localMs = new Histogram(LOCAL_BOUNDS_MS);
  private readonly remoteMs = new Histogram(REMOTE_BOUNDS_MS);
  private readonly addMs = new Histogram(REMOTE_BOUNDS_MS);
  private readonly checkSizes = new Histogram(BATCH_BOUNDS);
  private readonly addSizes = new Histogram(BATCH_BOUNDS);

  get copyWaits(): BloomCopyWaits {
    return { ...this.waits };
  }

  recordLocalTime(ms: number): void {
    this.localMs.observe(ms);
  }

  recordLookups(outcomes: readonly LookupOutcome[], ms: number): void {
    let answered = 0;
    for (const outcome of outcomes) {
      if (outcome === 'maybe' || outcome === 'absent') answered++;
      else this.reasons[outcome]++;
    }
    this.remote += answered;
    // Most of the other lookups were not sent, and say nothing of the store.
    if (answered === 0 && outcomes[0] !== 'timeout') return;
    this.remoteMs.observe(ms);
    this.checkSizes.observe(outcomes.length);
  }

  recordUnknown(reason: BloomUnknownReason, ids: number): void {
    this.reasons[reason] += ids;
  }

  recordAdd(ids: number, ms: number): void {
    this.addMs.observe(ms);
    this.addSizes.observe(ids);
  }

  recordWait(ms: number): void {
    this.waits.adds++;
    this.waits.ms += ms;
  }

  snapshot(): Pick<BloomFilterMetrics, 'lookups' | 'latencyMs' | 'batchSizes' | 'copyWaits'> {
    return {
      lookups: { local: this.local, remote: this.remote, unknown: { ...this.reasons } },
      latencyMs: {
        local: this.localMs.snapshot(),
        remote: this.remoteMs.snapshot(),
        add: this.addMs.snapshot(),
      },
      copyWaits: this.copyWaits,
      batchSizes: { check: this.checkSizes.snapshot(), add: this.addSizes.snapshot() },
    };
  }
}

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

const BUCKET_MS = 15_000;
/** Whole buckets of the window, beside the one that is being filled: five minutes. */
const BUCKETS = 20;
/** Before this there is too little to judge by. */
const FIRST_AFTER_MS = 60_000;

/** The clock of a process, which may have no timers. */
export interface FilterClock extends Clock {
  /** Runs what is due after a time; left out: by a timer that does not keep a process that ends. */
  later?(ms: number, run: () => void): void;
}

const afterMs = (ms: number, run: () => void): void => void setTimeout(run, ms).unref();

/**
 * What the guards of a filter saw in the last minutes. A bucket begins with what falls into it, or with a
 * read, and a timer ends it: reading the clock takes longer than a third of a check.
 */
export class RecentCounts {
  private readonly absents = new Float64Array(BUCKETS + 1);
  private readonly found = new Float64Array(BUCKETS + 1);
  private readonly startedAt: number;
  /** Number of the bucket that is being filled. */
  private current = 0;
  /** Its place. */
  private place = 0;
  /** Whether a timer will end it. */
  private isOpen = false;

  private readonly later: (ms: number, run: () => void) => void;

  constructor(private readonly clock: Pick<FilterClock, 'now' | 'later'>) {
    this.later = clock.later ?? afterMs;
    this.startedAt = clock.now();
  }

  recordAbsent(): void {
    if (!this.isOpen) this.open();
    this.absents[this.place]!++;
  }

  recordFoundNothing(): void {
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
