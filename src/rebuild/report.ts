import type { BloomRebuildProgress } from '../common/index.js';

/** How a rebuild ended. A run that failed rejects with a `BloomRebuildError` instead. */
export type BloomRebuildReport =
  | {
      /** A new generation is live. */
      readonly outcome: 'published';
      /**
       * Ids that the source returned and the new generation has. One that was returned twice counts twice.
       */
      readonly ids: number;
      /**
       * About how many different ones they are: those that were not in the filter yet when they were read. An
       * id that passes by chance counts as one that was there, so there are more of them, up to the share of
       * `errorRate`.
       */
      readonly distinctIds: number;
      /** Ids read, with those that `onBadId: 'skip'` left out. */
      readonly idsRead: number;
      /** Ids the new generation holds at its error rate. */
      readonly capacity: number;
      /** Its size. */
      readonly bytes: number;
      /** How often the run started again with a larger plan. */
      readonly replans: number;
      /** How long it took. */
      readonly durationMs: number;
      /** Parts that were rebuilt, of a filter with the option `partitions`. */
      readonly parts?: readonly number[];
    }
  | {
      /** Nothing was built. */
      readonly outcome: 'skipped';
      /** Why. */
      readonly reason: string;
      /** Time until a build is due, in milliseconds, of one that was asked for too early. */
      readonly dueInMs?: number;
    };

/** Options of one run of `filter.rebuild()`. */
export interface BloomRebuildOptions {
  /** Publishes a generation with no ids, or far fewer than the last. Default false. */
  readonly force?: boolean;
  /** Stops the run; the filter that was live stays live. */
  readonly signal?: AbortSignal;
  /**
   * Whether a run of this process that is under way answers for this call as well: it gives the same report.
   * It may have read a part of the source already, so a caller who needs rows in the filter that have just
   * become visible says `false`: then a run begins when that one has ended. With `force`, only a run with
   * `force` is joined. Default true.
   */
  readonly join?: boolean;
  /** Called while it runs. */
  readonly onProgress?: (progress: BloomRebuildProgress) => void;
}
