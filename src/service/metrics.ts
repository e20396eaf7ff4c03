import type { BloomFilterState, BloomRebuildProgress } from '../common/index.js';
import type { BloomCopyLease, BloomUnknownReason } from '../store/index.js';

/** How many lookups were `unknown`, by the reason. */
export type BloomUnknownCounts = Readonly<Record<BloomUnknownReason, number>>;

/** Observations by size, as Prometheus counts them, but not cumulated. */
export interface BloomHistogram {
  /** Inclusive upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[];
  /** Observations of each bucket; one element more than `bounds`, for those above the last bound. */
  readonly counts: readonly number[];
  /** All observations added up. */
  readonly sum: number;
}

/** What one guarded method has seen in this process since it started. All are counts that only grow. */
export interface BloomMethodMetrics {
  /** `ClassName.method`. */
  readonly method: string;
  /** Answers "absent". */
  readonly absent: number;
  /** Answers "maybe". */
  readonly maybe: number;
  /** Answers `unknown`, by the reason. */
  readonly unknown: BloomUnknownCounts;
  /** Answered from the negative cache. */
  readonly remembered: number;
  /**
   * Calls that were answered without the method: queries that the database was spared. In modes `shadow` and
   * `off` none is.
   */
  readonly saved: number;
  /** "maybe", and the method found nothing. */
  readonly foundNothing: number;
}

/**
 * What this process knows of a filter without asking the store. Counts only grow; they begin with the
 * process.
 */
export interface BloomFilterMetrics {
  /** The filter's name. */
  readonly filter: string;
  /** The mode of its guards. */
  readonly mode: BloomGuardMode;
  /** As this process knows it; undefined before it has asked. */
  readonly state: BloomFilterState | undefined;
  /** What all guards have seen. */
  readonly guards: BloomGuardCounts;
  /** Calls that guards answered without the method. */
  readonly saved: number;
  /** In the order of their first call. */
  readonly methods: readonly BloomMethodMetrics[];
  /** Lookups by who answered them: guards and `check`, `checkMany` of the application. */
  readonly lookups: {
    /** Answered by the copy in this process, or by the store in memory. */
    readonly local: number;
    /** Answered by the store over the network. */
    readonly remote: number;
    /** Answered `unknown`, by the reason. */
    readonly unknown: BloomUnknownCounts;
  };
  /**
   * In milliseconds. `local` is of a sample of the lookups, so that measuring costs nothing that can be felt.
   */
  readonly latencyMs: {
    /** Lookups in this process. */
    readonly local: BloomHistogram;
    /** Lookups over the network. */
    readonly remote: BloomHistogram;
    /** Adds. */
    readonly add: BloomHistogram;
  };
  /** Ids of each call to the store. */
  readonly batchSizes: {
    /** Lookups. */
    readonly check: BloomHistogram;
    /** Adds. */
    readonly add: BloomHistogram;
  };
  /** Adds that waited for processes with a leased copy. */
  readonly copyWaits: BloomCopyWaits;
  /**
   * Whether this process answers "absent" from its copy, and why not; undefined without `replica: 'leased'`,
   * and in memory.
   */
  readonly copyLease: BloomCopyLease | undefined;
  /** What was done for rows that others write; undefined without the options `topUp` and `feed`. */
  readonly outside: BloomOutsideMetrics | undefined;
  /** Ids that wait to be added (`onError: 'queue'`). */
  readonly queuedAdds: number;
  /** Lookups that the filter could not judge; undefined where `onUnknown` sets no budget. */
  readonly budget: BloomBudgetMetrics | undefined;
  /** Counts of the last minutes; undefined before the first of them has passed. */
  readonly recent:
    | {
        /** How long the time is that they are of. */
        readonly windowMs: number;
        /** Answers "absent". */
        readonly absent: number;
        /** "maybe", and the method found nothing. */
        readonly foundNothing: number;
        /**
         * Share of the lookups of ids without a row that were let through; undefined while there were none.
         */
        readonly letThroughRate: number | undefined;
      }
    | undefined;
  /** Rebuilds of this process. */
  readonly rebuild: {
    /** Progress of the run of this process. */
    readonly progress: BloomRebuildProgress | undefined;
    /** When its schedule runs next. */
    readonly nextRunAt: Date | undefined;
    /** Phases of the last run of this process that ended. */
    readonly lastPhases: readonly BloomPhaseDuration[];
  };
  /** Whether lookups are not sent, since Redis did not answer the last ones. */
  readonly isCircuitOpen: boolean;
  /** What in the setup endangers the filter, each with what to do about it. */
  readonly advice: readonly string[];
}

/** Calls of this process that added ids and waited for processes with a leased copy (`replica: 'leased'`). */
export interface BloomCopyWaits {
  /** Calls that waited. Of a filter with `partitions` one call counts for each part that it waited for. */
  readonly adds: number;
  /** For how long in all, in milliseconds. */
  readonly ms: number;
}

/** Calls of this process that the filter could not judge. The last three only grow. */
export interface BloomBudgetMetrics {
  /** Methods that may run at once. */
  readonly limit: number;
  /** Methods that run now. */
  readonly running: number;
  /** Calls that wait for one of them to end. */
  readonly waiting: number;
  /** Whether calls are refused: from the event `overload-started` to `overload-ended`. */
  readonly isExceeded: boolean;
  /** Calls that ran without being counted, since something says that their rows exist. */
  readonly hinted: number;
  /** Calls that ran, all others. */
  readonly passed: number;
  /** Calls that were refused. */
  readonly refused: number;
}

/** How long a phase of a rebuild took. */
export interface BloomPhaseDuration {
  /** The phase. */
  readonly phase: BloomRebuildProgress['phase'];
  /** Its time. */
  readonly durationMs: number;
}

/**
 * `on`: absent ids are answered without calling the method. `shadow`: everything is observed and nothing is
 * blocked, for a first roll-out. `off`: guards do not ask the filter.
 */
export type BloomGuardMode = 'on' | 'shadow' | 'off';

/**
 * What the guards of this process have seen of a filter since it was registered. A lookup that passes two of
 * them, on a route and on a repository, is counted by each.
 */
export interface BloomGuardCounts {
  /** Answers "absent". */
  readonly absent: number;
  /** Answers "maybe". */
  readonly maybe: number;
  /** Answers `unknown`. */
  readonly unknown: number;
  /** Values that cannot be the id of any row. */
  readonly invalid: number;
  /**
   * "maybe", and the guarded method found nothing: false positives of the filter, and ids in it that have no
   * row: of rows that were deleted since the last build, and of creates that failed.
   */
  readonly foundNothing: number;
  /** Answered from the negative cache. */
  readonly remembered: number;
  /** Ids new to the filter that `@BloomRegisters` added before a method that then failed. */
  readonly failedAdds: number;
  /** "absent", and the guarded method found something all the same: seen by the audit or in shadow mode. */
  readonly wrongAbsents: number;
  /**
   * Share of the lookups of ids without a row that were let through, for whatever reason of `foundNothing`;
   * undefined while there were none. What the filter itself is wrong about is `modelledErrorRate` of
   * `info()`: a figure far above it says how much rebuilding would save.
   */
  readonly letThroughRate: number | undefined;
}

/** What `info()` says of rows that others write. */
export interface BloomOutsideInfo {
  /** Every row up to this one, in the order of `idsSince`, is in the filter. Undefined: not known. */
  readonly mark: string | undefined;
  /** The last row that was read. */
  readonly newest: string | undefined;
  /** When the process that follows has read last; undefined when none has. */
  readonly readAt: Date | undefined;
  /** Whether it is this process that follows. */
  readonly isFollowing: boolean;
  /** With the option `feed`. */
  readonly feed?: BloomFeedInfo;
}

/** How far a feed has come. */
export interface BloomFeedInfo {
  /** In the log of the database; undefined before the first time. */
  readonly position: string | undefined;
  /** Bytes of the log that are not added yet; undefined where another process follows. */
  readonly behindBytes: number | undefined;
  /** Whether the feed runs in this process. */
  readonly isRunning: boolean;
}

/** What this process has done for rows that others write. Counts only grow; they begin with the process. */
export interface BloomOutsideMetrics {
  /** Whether it is this process that follows. */
  readonly isFollowing: boolean;
  /** With the option `topUp`. */
  readonly topUp:
    | {
        /** How often what is new was read and added. */
        readonly readings: number;
        /** Ids that were read and new to the filter. */
        readonly added: number;
        /** Events `top-up-failed`. */
        readonly failures: number;
      }
    | undefined;
  /** With the option `feed`. */
  readonly feed:
    | {
        /** Whether the feed runs in this process, and has reported how far it has come. */
        readonly isRunning: boolean;
        /** Bytes of the log that have not been added yet; undefined where another process follows. */
        readonly behindBytes: number | undefined;
        /** Ids of the log that were new to the filter. */
        readonly added: number;
        /** Events `feed-failed`. */
        readonly failures: number;
        /** Events `feed-gap`. */
        readonly gaps: number;
      }
    | undefined;
}
