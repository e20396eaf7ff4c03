import { AsyncLocalStorage } from 'node:async_hooks';
import type { BloomEventListener, Clock } from '../common/index.js';
import type { IdKey } from '../filter/index.js';
import type { BloomBudgetMetrics } from './metrics.js';
import { UsualLoad } from './usual-load.js';

/** How many lookups of each filter may run in this process, and wait, while it cannot judge. */
export interface BloomUnknownBudget {
  /** Methods that run at once. Default: three times as many as usually ran while the filter could judge. */
  readonly concurrent?: number;
  /** Calls that wait for one of them to end. Default 100. */
  readonly queue?: number;
  /** Longest wait, in milliseconds. Default 250. */
  readonly waitMs?: number;
}

const DEFAULTS = { queue: 100, waitMs: 250 };

/**
 * Order of lookups that the filter cannot judge. `hinted`: something says that the row exists, and the call
 * is neither counted nor refused. `near`: the id may be of a row that was written just now.
 */
export type LookupRank = 'hinted' | 'near' | 'other';

/** A call that runs its method unjudged. */
export interface UnjudgedCall {
  readonly since: number;
  /** False for one that is hinted, and for one that another unjudged call makes. */
  readonly isCounted: boolean;
  hasEnded: boolean;
}

interface WaitingCall {
  readonly since: number;
  readonly settle: (call: UnjudgedCall | undefined) => void;
}

/** What says how many calls may run; a simulation compares others. */
export type LimitRule = Pick<UsualLoad, 'begin' | 'end' | 'limit' | 'beginUnjudged' | 'endUnjudged'>;

type BudgetTimer = Pick<NodeJS.Timeout, 'ref' | 'unref'>;

export interface LookupBudgetOptions {
  readonly filter: string;
  readonly settings: BloomUnknownBudget;
  readonly clock: Pick<Clock, 'now'>;
  readonly emit: BloomEventListener;
  readonly rankOf: (key: IdKey) => LookupRank;
  readonly load?: LimitRule;
  readonly later?: (ms: number, run: () => void) => BudgetTimer | void;
}

/** A method that has not ended after this time gives its place back: it may never end. */
const HELD_MS = 10_000;
/** An overload is over when no call was refused for so long. */
const QUIET_MS = 5000;
/** Timers are early by less. */
const SLACK_MS = 1;

/** Calls within an unjudged one belong to it: each would wait for a place that another such call holds. */
const inside = new AsyncLocalStorage<UnjudgedCall>();

/** Lets a bounded number of lookups of one filter run their methods while the filter cannot judge. */
export class LookupBudget {
  /** What judged calls tell. */
  readonly load: LimitRule;
  /** In the order in which they began. */
  private readonly running = new Set<UnjudgedCall>();
  private readonly waiting: Record<'near' | 'other', WaitingCall[]> = { near: [], other: [] };
  private readonly counts = { hinted: 0, passed: 0, refused: 0 };
  private overload:
    { readonly since: number; readonly before: { refused: number; passed: number } } | undefined;
  private refusedAt = -Infinity;
  private isExpiring = false;
  /** Keeps the process from ending while calls wait. */
  private expiry: BudgetTimer | void = undefined;

  constructor(private readonly options: LookupBudgetOptions) {
    this.load = options.load ?? new UsualLoad(options.clock);
  }

  metrics(): BloomBudgetMetrics {
    return {
      limit: Math.floor(this.limit),
      running: this.running.size,
      waiting: this.waitingCalls,
      isExceeded: this.overload !== undefined,
      ...this.counts,
    };
  }

  /**
   * Asks for a place for one method call. Whoever gets one runs the method by `run` and calls `leave`.
   *
   * @param keys ids that the call looks up and the filter cannot judge; none for a value without a key.
   * @returns undefined, at once or after a wait, for a call that is refused.
   */
  enter(keys: readonly IdKey[]): UnjudgedCall | undefined | Promise<UnjudgedCall | undefined> {
    const { clock } = this.options;
    const since = clock.now();
    if (inside.getStore()?.hasEnded === false) return this.begin(since, false);
    const rank = this.rankOf(keys);
    if (rank === 'hinted') {
      this.counts.hinted++;
      return this.begin(since, false);
    }
    if (this.waitingCalls === 0 && this.hasRoom(since)) return this.pass(since);
    return this.wait(rank, since);
  }

  /** Runs the method of a call that has a place. */
  run<Result>(call: UnjudgedCall, method: () => Result): Result {
    return call.isCounted ? inside.run(call, method) : method();
  }

  /**
   * Gives the place back of a method that has ended; to be called once.
   *
   * @param isFound whether it found a row; undefined where that is not clear.
   */
  leave(call: UnjudgedCall, isFound: boolean | undefined): void {
    // The others say nothing of those who compete for places.
    if (call.isCounted)
      this.load.endUnjudged(this.options.clock.now() - call.since, this.running.size, isFound);
    this.giveUp(call);
  }

  /** Gives the place back of a method that will not run. */
  giveUp(call: UnjudgedCall): void {
    call.hasEnded = true;
    if (this.running.delete(call)) this.admit(this.options.clock.now());
  }

  /** Refuses all that wait. */
  close(): void {
    for (const calls of Object.values(this.waiting)) for (const call of calls.splice(0)) this.refuse(call);
    this.expiry?.unref();
    this.endOverload();
  }

  private get limit(): number {
    return this.options.settings.concurrent ?? this.load.limit;
  }

  private get waitingCalls(): number {
    return this.waiting.near.length + this.waiting.other.length;
  }

  private rankOf(keys: readonly IdKey[]): LookupRank {
    const ranks = new Set(keys.map(this.options.rankOf));
    if (ranks.size === 0 || ranks.has('other')) return 'other';
    return ranks.has('near') ? 'near' : 'hinted';
  }

  private hasRoom(now: number): boolean {
    for (const call of this.running) {
      if (now - call.since < HELD_MS) break;
      this.running.delete(call);
    }
    return this.running.size < Math.floor(this.limit);
  }

  private pass(since: number): UnjudgedCall {
    const call = this.begin(since, true);
    this.running.add(call);
    this.counts.passed++;
    return call;
  }

  private begin(since: number, isCounted: boolean): UnjudgedCall {
    this.load.beginUnjudged();
    return { since, isCounted, hasEnded: false };
  }

  private wait(rank: 'near' | 'other', since: number): Promise<UnjudgedCall | undefined> | undefined {
    const { queue = DEFAULTS.queue, waitMs = DEFAULTS.waitMs } = this.options.settings;
    const { other } = this.waiting;
    if (this.waitingCalls >= queue) {
      // The last of the others gives way to one that is near.
      const last = rank === 'near' ? other.pop() : undefined;
      this.refuse(last);
      if (!last) return undefined;
    }
    return new Promise((settle) => {
      this.waiting[rank].push({ since, settle });
      this.expireAfter(waitMs);
    });
  }

  private admit(now: number): void {
    const { near, other } = this.waiting;
    while (this.waitingCalls > 0 && this.hasRoom(now))
      (near.shift() ?? other.shift())!.settle(this.pass(now));
    if (this.waitingCalls === 0) this.expiry?.unref();
  }

  private expireAfter(ms: number): void {
    this.expiry?.ref();
    if (this.isExpiring) return;
    this.isExpiring = true;
    this.expiry = this.later(ms, () => {
      this.isExpiring = false;
      this.expire();
    });
  }

  /** Refuses calls that have waited for too long. */
  private expire(): void {
    const { clock, settings } = this.options;
    const { waitMs = DEFAULTS.waitMs } = settings;
    const now = clock.now();
    this.admit(now);
    let nextMs = Infinity;
    for (const calls of Object.values(this.waiting)) {
      while (calls.length > 0 && now - calls[0]!.since > waitMs - SLACK_MS) this.refuse(calls.shift());
      if (calls.length > 0) nextMs = Math.min(nextMs, calls[0]!.since + waitMs - now);
    }
    if (nextMs < Infinity) this.expireAfter(nextMs);
  }

  /** @param call one that waits; undefined for one that does not wait. */
  private refuse(call: WaitingCall | undefined): void {
    const { clock, emit, filter } = this.options;
    this.refusedAt = clock.now();
    if (!this.overload) {
      const { refused, passed } = this.counts;
      this.overload = { since: this.refusedAt, before: { refused, passed } };
      emit({ type: 'overload-started', filter, limit: Math.floor(this.limit) });
      this.endWhenQuiet(QUIET_MS);
    }
    this.counts.refused++;
    call?.settle(undefined);
  }

  private endWhenQuiet(ms: number): void {
    const timer = this.later(ms, () => {
      const quietMs = this.options.clock.now() - this.refusedAt;
      if (quietMs > QUIET_MS - SLACK_MS) this.endOverload();
      else if (this.overload) this.endWhenQuiet(QUIET_MS - quietMs);
    });
    timer?.unref();
  }

  private endOverload(): void {
    const { overload } = this;
    if (!overload) return;
    this.overload = undefined;
    const { emit, filter } = this.options;
    const { since, before } = overload;
    emit({
      type: 'overload-ended',
      filter,
      durationMs: Math.round(this.refusedAt - since),
      refused: this.counts.refused - before.refused,
      passed: this.counts.passed - before.passed,
    });
  }

  private later(ms: number, run: () => void): BudgetTimer | void {
    return this.options.later ? this.options.later(ms, run) : setTimeout(run, ms);
  }
}
