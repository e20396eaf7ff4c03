import type { FilterDescription } from './filter-description.js';

/** Why a build is asked for, and so when it is due. The store keeps what it has to know for that, for all processes and by its own clock. */
export type BuildOccasion =
  /** Somebody asked for it: always due. */
  | { readonly kind: 'manual' }
  /**
   * A schedule asked for it: not due when a build that a schedule asked for, or that went live, began within the last `withinMs`
   * milliseconds. `failedMs` is given when the last build that the schedule of this process made has failed, and says how long ago it
   * asked before: then it is not due either when a process that has not failed has asked since.
   */
  | { readonly kind: 'scheduled'; readonly withinMs: number; readonly failedMs?: number | undefined }
  /** The filter is not as it should be: not due for a pause after a build failed, in whatever process. */
  | { readonly kind: 'recovery' }
  /**
   * The filter holds more ids than planned, which anybody may cause who can add: not due when a build for this reason, or one that went live,
   * began within the last `withinMs` milliseconds, whether it failed or not, nor for the pause after one that failed.
   */
  | { readonly kind: 'overfull'; readonly withinMs: number };

/** How a build ended, of those that took place. */
export type BuildOutcome =
  | { readonly kind: 'published' }
  /** `retryAfterMs`: the shortest pause that is of use. */
  | { readonly kind: 'failed'; readonly retryAfterMs?: number | undefined };

/** Pauses after builds that failed double from the first to the last. In milliseconds. */
export const FIRST_BUILD_PAUSE_MS = 1000;
export const LAST_BUILD_PAUSE_MS = 60_000;

export interface LeaseRequest {
  readonly leaseMs: number;
  /** Left out: always due, and nothing is noted of the build. */
  readonly occasion?: BuildOccasion | undefined;
  /** Asked for each part of a partitioned filter once its lease is held: a reason to leave the part alone. Other filters leave it to their caller. */
  readonly unless?: ((found: FilterDescription) => string | undefined) | undefined;
  /** Called when the lease was not given because no build is due yet, with the time until one is, in milliseconds. */
  readonly onNotDue?: ((dueInMs: number) => void) | undefined;
}
