import { type Clock, systemClock } from '../common/index.js';
import { type IdKey, idNote } from '../filter/index.js';
import type { LookupOutcome } from '../store/index.js';
import type { BloomGuardCounts, BloomGuardMode } from './metrics.js';
import type { IdKeys } from './id-keys.js';
import {
  BLOCKS_NONE,
  type CountedMethod,
  type FilterClock,
  type MethodCounts,
  MethodCountsByName,
  RecentCounts,
} from './filter-counts.js';
import { NegativeCache, type NegativeCacheOptions, RecentAdds } from './negative-cache.js';
import type { BloomFilterOptions } from './filter-options.js';
import type { LookupBudget } from './lookup-budget.js';
import type { SeenIds } from './seen-ids.js';

export interface GuardStateOptions {
  readonly shadow: boolean;
  readonly audit: AuditRule;
  readonly negativeCache: NegativeCacheOptions | false;
  readonly drainMs: number;
  readonly clock?: FilterClock;
}

/** The state of the guards of one filter, in this process. */
export class GuardState {
  mode: BloomGuardMode;
  readonly negativeCache: NegativeCache | undefined;
  unknown = 0;
  invalid = 0;
  foundNothing = 0;
  remembered = 0;
  failedAdds = 0;
  wrongAbsents = 0;
  readonly methods: MethodCountsByName;
  readonly recent: RecentCounts;
  /** Guarded methods that have found nothing for some id. */
  readonly methodsThatReportMissing = new Set<string>();

  /** Digests of ids that wait to be added: this process answers "maybe" for them. */
  queued: { readonly size: number; has(record: string): boolean } | undefined;

  /** Bounds the calls that the filter cannot judge; undefined: all pass. */
  budget: LookupBudget | undefined;

  /** Ids whose rows this process has added, or found where no copy answers; undefined without a budget. */
  seen: SeenIds | undefined;

  /** Called for each absent id with the method that asked; undefined unless clients are counted. */
  onAbsent: ((method: string) => void) | undefined;

  private adds: RecentAdds | undefined;
  private readonly sample: AuditSample;

  constructor(private readonly options: GuardStateOptions) {
    const { audit, clock = systemClock } = options;
    this.mode = options.shadow ? 'shadow' : 'on';
    this.methods = new MethodCountsByName(audit.trial);
    this.sample = new AuditSample(audit, clock);
    this.recent = new RecentCounts(clock);
    if (!options.negativeCache) return;
    this.adds = new RecentAdds(options.drainMs);
    this.negativeCache = new NegativeCache(options.negativeCache, this.adds);
  }

  /**
   * Whether this process still tries to add the id, whose row may exist. To be asked before the filter: an id
   * leaves the queue when it is in the filter.
   */
  isQueued(key: IdKey, keys: IdKeys): boolean {
    return this.queued?.has(keys.digestOf(key) ?? '') ?? false;
  }

  /** Ids that this process added lately. Without a negative cache they are recorded from the first use on. */
  get recentAdds(): RecentAdds {
    return (this.adds ??= new RecentAdds(this.options.drainMs, performance.now()));
  }

  /** To be called before ids are recorded, and again when they are. */
  recordAdded(ids: readonly IdKey[]): void {
    if (this.seen) for (const id of ids) this.seen.add(id);
    if (!this.adds) return;
    const texts = ids.map(idNote);
    this.adds.record(texts);
    this.negativeCache?.forget(texts);
  }

  /** To be called when a rebuild went live: it may hold ids that this process did not add. */
  recordRebuilt(): void {
    this.adds?.recordOthers();
    this.negativeCache?.clear();
  }

  /** Whether an absent answer is let through to the method, to compare. To be asked once for each. */
  isAudited(method: CountedMethod): boolean {
    return this.mode === 'shadow' || this.sample.takes(this.methods.of(method));
  }

  /** To be called at once when an audited call has found something: only the others use the trial up. */
  recordFound(method: string): void {
    const counts = this.methods.named(method);
    if (counts.trial !== BLOCKS_NONE) counts.trial = Math.min(counts.trial + 1, this.options.audit.trial);
  }

  /**
   * Begins the trial of a guard again that was wrong about a row in this build. Returns the build in which it
   * was wrong first.
   */
  recordWrong(method: string, build: number): number | undefined {
    const counts = this.methods.named(method);
    const before = counts.wrongIn;
    counts.trial = this.options.audit.trial;
    counts.wrongIn ??= build;
    return before;
  }

  /** Whether the guard lets every call through, by the mode or for being wrong about rows. */
  blocksNone(method: string): boolean {
    return this.mode !== 'on' || this.isOff(method);
  }

  /** Whether the guard lets every call through for being wrong about rows. */
  isOff(method: string): boolean {
    return this.methods.named(method).trial === BLOCKS_NONE;
  }

  /** Turns the guard off until the process starts again; false where it is off. */
  turnOff(method: string): boolean {
    if (this.isOff(method)) return false;
    this.methods.named(method).trial = BLOCKS_NONE;
    return true;
  }

  /** Counts the answer of the filter to a guarded method. */
  record(outcome: LookupOutcome, method: CountedMethod): void {
    const counts = this.methods.of(method);
    if (outcome === 'maybe') {
      counts.maybe++;
    } else if (outcome === 'absent') {
      counts.absent++;
      this.recent.recordAbsent();
      this.onAbsent?.(method.method);
    } else {
      this.unknown++;
      counts.unknown[outcome]++;
    }
  }

  /** Counts an absent answer to a call, and says whether it ends the call: one that is audited goes on. */
  blocks(method: CountedMethod): boolean {
    const counts = this.methods.of(method);
    counts.absent++;
    this.recent.recordAbsent();
    this.onAbsent?.(method.method);
    if (this.mode === 'shadow' || this.sample.takes(counts)) return false;
    counts.saved++;
    return true;
  }

  /** Counts a call without an id; `isInvalid`: its value cannot be one. */
  recordUnread(isInvalid: boolean, method: CountedMethod): void {
    if (isInvalid) this.invalid++;
    else this.unknown++;
    this.methods.of(method).unknown['invalid-id']++;
  }

  recordRemembered(method: CountedMethod): void {
    this.remembered++;
    this.methods.of(method).remembered++;
  }

  recordFoundNothing(method: CountedMethod): void {
    this.foundNothing++;
    this.methods.of(method).foundNothing++;
    this.recent.recordFoundNothing();
  }

  /** Counts calls that are answered without the method, or ids that it is not given. */
  recordSaved(method: CountedMethod, calls = 1): void {
    this.methods.of(method).saved += calls;
  }

  /** Calls of guards that asked, whatever they got. */
  get calls(): number {
    return this.absent + this.maybe + this.unknown + this.invalid + this.remembered;
  }

  /** Ids that the filter has answered "absent", over all methods. */
  get absent(): number {
    return this.methods.total('absent');
  }

  get maybe(): number {
    return this.methods.total('maybe');
  }

  counts(): BloomGuardCounts {
    const { absent, maybe, unknown, invalid, foundNothing, remembered, failedAdds, wrongAbsents } = this;
    const withoutRow = absent + foundNothing;
    return {
      absent,
      maybe,
      unknown,
      invalid,
      foundNothing,
      remembered,
      failedAdds,
      wrongAbsents,
      letThroughRate: withoutRow > 0 ? foundNothing / withoutRow : undefined,
    };
  }
}

/** Which absent answers go to the method all the same, to be compared with what it finds. */
export interface AuditRule {
  /** Share of the absent answers, 0 to 1. */
  readonly sampleRate: number;
  /** The most of them in a second, of all guards of the filter in this process. */
  readonly mostPerSecond: number;
  /** Absent answers of each guard that go to its method first. */
  readonly trial: number;
}

export const NO_AUDIT: AuditRule = { sampleRate: 0, mostPerSecond: 0, trial: 0 };

const TRIAL = 20;
/** Where the application sets no rate: a flood of absent ids costs a few queries a second. */
const USUAL = { sampleRate: 0.001, mostPerSecond: 5 };

export function auditRule(option: BloomFilterOptions['audit'], hasSource: boolean): AuditRule {
  if (option === false || option?.sampleRate === 0) return NO_AUDIT;
  if (option) return { sampleRate: option.sampleRate, mostPerSecond: Infinity, trial: TRIAL };
  return { ...USUAL, sampleRate: hasSource ? USUAL.sampleRate : 0, trial: TRIAL };
}

/** Picks the trial of each guard, then a share of the absent answers, by counting down to the next one. */
export class AuditSample {
  /** Answers up to the next one that is picked, which counts; 0: none is. */
  private left: number;
  private secondBegan = -Infinity;
  private picked = 0;

  constructor(
    private readonly rule: AuditRule,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.left = rule.sampleRate > 0 ? this.gap() : 0;
  }

  takes(counts: Pick<MethodCounts, 'trial'>): boolean {
    if (counts.trial !== 0) {
      if (counts.trial !== BLOCKS_NONE) counts.trial--;
      return true;
    }
    if (this.left === 0 || --this.left > 0) return false;
    this.left = this.gap();
    return this.isWithinBound();
  }

  /** As many as if each answer were picked by chance. */
  private gap(): number {
    return 1 + Math.floor(Math.log(1 - Math.random()) / Math.log1p(-this.rule.sampleRate));
  }

  private isWithinBound(): boolean {
    const now = this.clock.now();
    if (now - this.secondBegan >= 1000) {
      this.secondBegan = now;
      this.picked = 0;
    }
    return this.picked++ < this.rule.mostPerSecond;
  }
}
