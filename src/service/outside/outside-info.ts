/** What `info()` says of rows that others write. */
export interface BloomOutsideInfo {
  /** Every row up to this one, in the order of `idsSince`, is in the filter. Undefined: it is not known of any. */
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
  /** Bytes of the log that have not been added yet, as this process knows; undefined where another one follows. */
  readonly behindBytes: number | undefined;
  /** Whether the feed runs in this process. */
  readonly isRunning: boolean;
}
