import type { BloomEvent } from '../../common/index.js';

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

export class FreshnessCounts {
  readings = 0;
  addedByTopUp = 0;
  addedByFeed = 0;
  private topUpFailures = 0;
  private feedFailures = 0;
  private gaps = 0;

  /** To be called with each event about external writes. */
  count({ type }: BloomEvent): void {
    if (type === 'top-up-failed') this.topUpFailures++;
    if (type === 'feed-failed') this.feedFailures++;
    if (type === 'feed-gap') this.gaps++;
  }

  ofTopUp(): BloomOutsideMetrics['topUp'] {
    return { readings: this.readings, added: this.addedByTopUp, failures: this.topUpFailures };
  }

  ofFeed(
    now: Pick<NonNullable<BloomOutsideMetrics['feed']>, 'isRunning' | 'behindBytes'>,
  ): BloomOutsideMetrics['feed'] {
    return { ...now, added: this.addedByFeed, failures: this.feedFailures, gaps: this.gaps };
  }
}
