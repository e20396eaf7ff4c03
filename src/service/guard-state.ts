import { type IdKey, idNote } from '../filter/index.js';
import type { IdKeys } from './id-keys.js';
import { NegativeCache, type NegativeCacheOptions } from './negative-cache.js';
import { RecentAdds } from './recent-adds.js';

/**
 * `on`: absent ids are answered without calling the method. `shadow`: everything is observed and nothing is blocked, for a first
 * roll-out. `off`: guards do not ask the filter.
 */
export type BloomGuardMode = 'on' | 'shadow' | 'off';

/**
 * What the guards of this process have seen of a filter since it was registered. A lookup that passes two of them, on a route and
 * on a repository, is counted by each.
 */
export interface BloomGuardCounts {
  readonly absent: number;
  readonly maybe: number;
  readonly unknown: number;
  /** Values that cannot be the id of any row. */
  readonly invalid: number;
  /**
   * "maybe", and the guarded method found nothing: false positives of the filter, and ids in it that have no row: of rows that were
   * deleted since the last build, and of creates that failed.
   */
  readonly foundNothing: number;
  /** Answered from the negative cache. */
  readonly remembered: number;
  /** Ids new to the filter that `@BloomRegisters` added before a method that then failed. */
  readonly failedAdds: number;
  /** "absent", and the guarded method found something all the same: seen by the audit or in shadow mode. */
  readonly wrongAbsents: number;
  /**
   * Share of the lookups of ids without a row that were let through, for whatever reason of `foundNothing`; undefined while there were
   * none. What the filter itself is wrong about is `modelledErrorRate` of `info()`: a figure far above it says how much rebuilding would save.
   */
  readonly letThroughRate: number | undefined;
}

export interface GuardStateOptions {
  readonly shadow: boolean;
  readonly auditSampleRate: number;
  /** Of this process alone. */
  readonly negativeCache: NegativeCacheOptions | false;
  readonly drainMs: number;
}

/** The state of the guards of one filter, in this process. */
export class GuardState {
  /** May be set at any time. */
  mode: BloomGuardMode;
  /** Of this process alone. */
  readonly negativeCache: NegativeCache | undefined;
  absent = 0;
  maybe = 0;
  unknown = 0;
  invalid = 0;
  foundNothing = 0;
  remembered = 0;
  failedAdds = 0;
  wrongAbsents = 0;
  /** Guarded methods that have found nothing for some id. */
  readonly discerning = new Set<string>();

  /** Ids that wait to be added, by their notes: this process answers "maybe" for them. */
  queued: { has(note: string): boolean } | undefined;

  private adds: RecentAdds | undefined;

  constructor(private readonly options: GuardStateOptions) {
    this.mode = options.shadow ? 'shadow' : 'on';
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
