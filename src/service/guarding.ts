import { NegativeCache, type NegativeCacheOptions } from './negative-cache.js';

/**
 * `on`: absent ids are answered without calling the method. `shadow`: everything is observed and nothing is blocked, for a first
 * roll-out. `off`: guards do not ask the filter.
 */
export type BloomGuardMode = 'on' | 'shadow' | 'off';

/** What the guards of this process have seen of a filter since it was registered. */
export interface BloomGuardCounts {
  readonly absent: number;
  readonly maybe: number;
  readonly unknown: number;
  /** "maybe", and the guarded method found nothing. */
  readonly falsePositives: number;
  /** Answered from the memory of false positives. */
  readonly remembered: number;
  /** "absent", and the guarded method found something all the same: seen by the audit or in shadow mode. */
  readonly wrongAbsents: number;
  /** Share of the look-ups of absent ids that were let through; undefined while there were none. */
  readonly observedErrorRate: number | undefined;
}

export interface GuardingOptions {
  readonly shadow: boolean;
  readonly auditSampleRate: number;
  readonly negativeCache: NegativeCacheOptions | false;
  readonly drainMs: number;
}

/** How one filter is guarded with, in this process. */
export class Guarding {
  /** May be set at any time. */
  mode: BloomGuardMode;
  readonly negativeCache: NegativeCache | undefined;
  absent = 0;
  maybe = 0;
  unknown = 0;
  falsePositives = 0;
  remembered = 0;
  wrongAbsents = 0;

  private readonly auditSampleRate: number;

  constructor(options: GuardingOptions) {
    this.mode = options.shadow ? 'shadow' : 'on';
    this.auditSampleRate = options.auditSampleRate;
    this.negativeCache = options.negativeCache
      ? new NegativeCache(options.negativeCache, options.drainMs)
      : undefined;
  }

  /** Whether an absent answer is let through to the method, to compare. */
  isAudited(): boolean {
    return this.mode === 'shadow' || (this.auditSampleRate > 0 && Math.random() < this.auditSampleRate);
  }

  counts(): BloomGuardCounts {
    const { absent, maybe, unknown, falsePositives, remembered, wrongAbsents } = this;
    const ofAbsent = absent + falsePositives;
    return {
      absent,
      maybe,
      unknown,
      falsePositives,
      remembered,
      wrongAbsents,
      observedErrorRate: ofAbsent > 0 ? falsePositives / ofAbsent : undefined,
    };
  }
}
