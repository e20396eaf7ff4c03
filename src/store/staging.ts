import type { IdKey, IdRun } from '../filter/index.js';
import type { FilterDescription } from './filter-description.js';
import type { BloomVerdict } from './verdict.js';

/**
 * Why a build is asked for, and so when it is due. The store keeps what it has to know for that, for all
 * processes and by its own clock.
 */
export type BuildOccasion =
  /** Somebody asked for it: always due. */
  | {
      /** By whom. */
      readonly kind: 'manual';
    }
  /**
   * A schedule asked for it: not due when a build that a schedule asked for, or that went live, began within
   * the last `withinMs` milliseconds. `failedMs` is given when the last build that the schedule of this
   * process made has failed, and says how long ago it asked before: then it is not due either when a process
   * that has not failed has asked since.
   */
  | {
      /** By what. */
      readonly kind: 'scheduled';
      /** How long before another one is due. */
      readonly withinMs: number;
      /** How long ago this process asked for one that failed. */
      readonly failedMs?: number | undefined;
    }
  /** The filter is not as it should be: not due for a pause after a build failed, in whatever process. */
  | {
      /** By what. */
      readonly kind: 'recovery';
    }
  /**
   * The filter holds more ids than planned, which anybody may cause who can add: not due when a build for
   * this reason, or one that went live, began within the last `withinMs` milliseconds, whether it failed or
   * not, nor for the pause after one that failed.
   */
  | {
      /** By what. */
      readonly kind: 'overfull';
      /** As before. */
      readonly withinMs: number;
    };

/** How a build ended, of those that took place. */
export type BuildOutcome =
  | {
      /** It is live. */
      readonly kind: 'published';
    }
  | {
      /** It is not. */
      readonly kind: 'failed';
      /** The shortest pause that is of use. */
      readonly retryAfterMs?: number | undefined;
    };

/** Pauses after builds that failed double from the first to the last. In milliseconds. */
export const FIRST_BUILD_PAUSE_MS = 1000;
/** The last of these pauses. */
export const LAST_BUILD_PAUSE_MS = 60_000;

/** What asks for the right to rebuild. */
export interface LeaseRequest {
  /** How long the lock is held without being renewed. */
  readonly leaseMs: number;
  /** Left out: always due, and nothing is noted of the build. */
  readonly occasion?: BuildOccasion | undefined;
  /**
   * Asked for each part of a partitioned filter once its lease is held: a reason to leave the part alone.
   * Other filters leave it to their caller.
   */
  readonly unless?: ((found: FilterDescription) => string | undefined) | undefined;
  /**
   * Called when the lease was not given because no build is due yet, with the time until one is, in
   * milliseconds.
   */
  readonly onNotDue?: ((dueInMs: number) => void) | undefined;
}

/** Held by one process, renewed automatically until it is released or lost. */
export interface RebuildLease {
  /** Aborts when the lease was lost; every write after that is refused by the store itself. */
  readonly signal: AbortSignal;

  /**
   * Why nothing is to be rebuilt after all, where the store has asked `unless` of the request for each part
   * of the filter.
   */
  readonly declined?: string | undefined;

  /** The parts that are rebuilt, of a partitioned filter. */
  readonly parts?: readonly number[] | undefined;

  /**
   * Makes an empty filter beside the live one. From the moment this resolves every add, of any process, is
   * recorded in both. An earlier staging of this lease is dropped.
   */
  stage(plan: StagePlan): Promise<Staging>;

  /**
   * Gives the right back.
   *
   * @param outcome left out of a build that did not take place, or was stopped before its end
   */
  release(outcome?: BuildOutcome): Promise<void>;
}

/** What a staged filter is to hold. */
export interface StagePlan {
  /** Distinct ids. */
  readonly capacity: number;
  /** Share of absent ids that may pass. */
  readonly errorRate: number;
  /** Longer ids are refused. */
  readonly maxIdBytes: number;
  /**
   * Integers that are to have a bit each, where the store has layout `exact`. Every other id is hashed, with
   * room for few. Undefined: all ids are hashed.
   */
  readonly range?:
    | {
        /** The first one. */
        readonly first: number;
        /** How many. */
        readonly integers: number;
      }
    | undefined;
}

/** A filter that is being built beside the live one. */
export interface Staging {
  /**
   * Distinct ids it takes before a larger one has to be planned; Infinity where the size is not for a rebuild
   * to choose.
   */
  readonly capacity: number;
  /** Its size. */
  readonly bytes: number;

  /** A filter in this process for what the scan reads: no network for an id. */
  readonly local: LocalFilter;

  /**
   * For how long before the staging was published no add had been acknowledged: such adds need no drain. 0
   * when the store cannot know.
   */
  readonly quietMs: number;

  /**
   * Divides the filling into passes, so that `local` takes no more than so many bytes. The source is read
   * once in each of them.
   *
   * @returns how many there are. A staging that cannot be divided is filled in one.
   */
  divide?(memoryBytes: number): number;

  /**
   * Begins a pass, from 0 to one less than there are: `local` and `merge` are of its part of the filter until
   * the next one begins.
   */
  beginPass?(pass: number): void;

  /** Adds all that is in `local` to the staged filter, in bounded steps. */
  merge(signal: AbortSignal): Promise<void>;

  /** Verdicts of the staged filter. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /**
   * Whether a part has been given more ids than it is planned for: one of a partitioned filter, which gets
   * room for them when it is staged again, or what has the ids outside the range, which needs another plan.
   */
  readonly isOutgrown?: boolean | undefined;

  /** Gives up the parts of a partitioned filter that these ids are in; false when no part is left. */
  giveUpPartsOf?(ids: readonly IdKey[]): boolean;

  /**
   * Puts the staged filter in the place of the live one, at once for all readers and writers.
   *
   * @param ids distinct ids that the build read.
   */
  commit(ids: number): Promise<void>;

  /** Drops the staging; the live generation stays. */
  abort(): Promise<void>;
}

/** What a rebuild fills in this process. */
export interface LocalFilter {
  /**
   * True when the id was not there before.
   *
   * @throws {BloomIdError} for an id that the filter cannot hold.
   */
  addKey(id: IdKey): boolean;

  /**
   * As `addKey` for the id of the bytes from `start` to `end`: text in UTF-8, or bytes; where the filter
   * treats both alike.
   */
  addBytes?(bytes: Uint8Array, start: number, end: number): boolean;

  /** Whether the id that came last is of another pass, and was left out. Left out: there is one pass. */
  readonly isElsewhere?: boolean;

  /**
   * The same filter for many ids, whose bits it sets later. Left out, or undefined: it would gain nothing.
   *
   * @param filters as many are filled in turn, and share the memory for ids that wait. Default 1.
   */
  deferred?(filters?: number): DeferringFilter | undefined;
}

/**
 * Sets the bits of ids later, in an order that is faster: all of them are set when `settleRegion` returns
 * false.
 */
export interface DeferringFilter extends LocalFilter {
  /**
   * Ids that have turned out to be new since the last call: `addKey` and `addBytes` return false before that
   * is known.
   */
  takeNew(): number;

  /**
   * As `addBytes` for packed ids from `from` to below `to`; how many it has added, which may be fewer. When
   * it is 0, the next one has to be added by `addBytes`, which says what is wrong with it.
   */
  addRun?(ids: IdRun, from: number, to: number): number;

  /** Ids of the last run that are not of another pass. */
  readonly takenOfRun?: number;

  /** Sets the bits of some ids, in less than a millisecond or two; false when no id waits any more. */
  settleRegion(): boolean;
}
