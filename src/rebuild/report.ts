import type { BloomRebuildProgress } from '../common/index.js';

/** How a rebuild ended. A run that failed rejects with a `BloomRebuildError` instead. */
export type BloomRebuildReport =
  | {
      readonly outcome: 'published';
      /** Distinct ids read from the source. */
      readonly ids: number;
      /** Ids read, duplicates included. */
      readonly idsRead: number;
      /** Ids the new generation holds at its error rate. */
      readonly capacity: number;
      readonly bytes: number;
      /** How often the run started again with a larger plan. */
      readonly replans: number;
      readonly durationMs: number;
    }
  | {
      readonly outcome: 'skipped';
      readonly reason: string;
      /** Time until a build is due, in milliseconds, of one that was asked for too early. */
      readonly dueInMs?: number;
    };

/** Of one run of `filter.rebuild()`. */
export interface BloomRebuildOptions {
  /** Publishes a generation with no ids, or far fewer than the last. Default false. */
  readonly force?: boolean;
  /** Stops the run; the filter that was live stays live. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: BloomRebuildProgress) => void;
}
