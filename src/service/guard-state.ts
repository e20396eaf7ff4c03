import { type Clock, systemClock } from '../common/index.js';
import { type IdKey, idNote } from '../filter/index.js';
import type { LookupOutcome } from '../store/index.js';
import type { BloomGuardCounts, BloomGuardMode } from './guard-counts.js';
import type { IdKeys } from './id-keys.js';
import { type CountedMethod, MethodCountsByName } from './method-counts.js';
import { NegativeCache, type NegativeCacheOptions } from './negative-cache.js';
import { RecentAdds } from './recent-adds.js';
import { RecentCounts } from './recent-counts.js';

export interface GuardStateOptions {
  readonly shadow: boolean;
  readonly auditSampleRate: number;
  /** Of this process alone. */
  readonly negativeCache: NegativeCacheOptions | false;
  readonly drainMs: number;
  /** Default: that of the system. */
  readonly clock?: Clock;
}

/** The state of the guards of one filter, in this process. */
export class GuardState {
  /** May be set at any time. */
  mode: BloomGuardMode;
  /** Of this process alone. */
  readonly negativeCache: NegativeCache | undefined;
  unknown = 0;
  invalid = 0;
  foundNothing = 0;
  remembered = 0;
  failedAdds = 0;
  wrongAbsents = 0;
  readonly methods = new MethodCountsByName();
  /** Of the last minutes. */
  readonly recent: RecentCounts;
  /** Guarded methods that have found nothing for some id. */
  readonly discerning = new Set<string>();

  /** Ids that wait to be added, by their notes: this process answers "maybe" for them. */
  queued: { readonly size: number; has(note: string): boolean } | undefined;

  /** Called for each absent id with the method that asked; undefined where nobody counts clients. */
  onAbsent: ((method: string) => void) | undefined;

  private adds: RecentAdds | undefined;

  constructor(private readonly options: GuardStateOptions) {
    this.mode = options.shadow ? 'shadow' : 'on';
    this.recent = new RecentCounts(options.clock ?? systemClock);
    if (!options.negativeCache) return;
    this.adds = new RecentAdds(options.drainMs);
    this.negativeCache = new NegativeCache(options.negativeCache, this.adds);
  }

  /** Whether this process still tries to add the id, whose row may be there. Ask before the filter is asked: an id leaves the queue when it is in the filter. */
  isQueued(key: IdKey, keys: IdKeys): boolean {
    return this.queued?.has(keys.note(key) ?? '') ?? false;
  }

  /** Ids that this process added lately. Without a negative cache they are noted from the first call of this on. */
  get recentAdds(): RecentAdds {
    return (this.adds ??= new RecentAdds(this.options.drainMs, performance.now()));
  }

  /** To be called before ids are recorded, and again when they are. */
  noteAdded(ids: readonly IdKey[]): void {
    if (!this.adds) return;
    const texts = ids.map(idNote);
    this.adds.note(texts);
    this.negativeCache?.forget(texts);
  }

  /** To be called when a rebuild went live: it may hold ids that this process did not add. */
  noteRebuilt(): void {
    this.adds?.noteOthers();
    this.negativeCache?.clear();
  }

  /** Whether an absent answer is let through to the method, to compare. */
  isAudited(): boolean {
    const { auditSampleRate } = this.options;
    return this.mode === 'shadow' || (auditSampleRate > 0 && Math.random() < auditSampleRate);
  }

  /** Counts the answer of the filter to a guarded method. */
  note(outcome: LookupOutcome, method: CountedMethod): void {
    if (outcome === 'maybe') this.noteMaybe(method);
    else this.noteOther(outcome, method);
  }

  /** Most calls. */
  noteMaybe(method: CountedMethod): void {
    this.methods.of(method).maybe++;
  }

  noteOther(outcome: Exclude<LookupOutcome, 'maybe'>, method: CountedMethod): void {
    const counts = this.methods.of(method);
    if (outcome === 'absent') {
      counts.absent++;
      this.recent.noteAbsent();
      this.onAbsent?.(method.method);
      return;
    }
    this.unknown++;
    counts.unknown[outcome]++;
  }

  /** The same as `note` and `noteSaved` together, for a call that is answered "absent". */
  noteDenied(method: CountedMethod): void {
    const counts = this.methods.of(method);
    counts.absent++;
    counts.saved++;
    this.recent.noteAbsent();
    this.onAbsent?.(method.method);
  }

  /** Counts a call without an id; `isInvalid`: its value cannot be one. */
  noteUnread(isInvalid: boolean, method: CountedMethod): void {
    if (isInvalid) this.invalid++;
    else this.unknown++;
    this.methods.of(method).unknown['invalid-id']++;
  }

  noteRemembered(method: CountedMethod): void {
    this.remembered++;
    this.methods.of(method).remembered++;
  }

  noteFoundNothing(method: CountedMethod): void {
    this.foundNothing++;
    this.methods.of(method).foundNothing++;
    this.recent.noteFoundNothing();
  }

  /** Counts calls that are answered without the method, or ids that it is not given. */
  noteSaved(method: CountedMethod, calls = 1): void {
    this.methods.of(method).saved += calls;
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
