/** How a filter stands. Only `ready` gives other verdicts than `unknown`. */
export type BloomFilterState =
  /** Never built. */
  | 'unbuilt'
  /** Answers. */
  | 'ready'
  /** Its keys are gone or damaged. */
  | 'lost'
  /** The server restarted or failed over and may have lost adds that it had acknowledged. */
  | 'suspect';

/** How far a rebuild has come. */
export interface BloomRebuildProgress {
  /** What it does now. */
  readonly phase: 'staging' | 'draining' | 'scanning' | 'merging' | 'verifying' | 'swapping';
  /** Ids read from the source. */
  readonly idsRead: number;
  /** Ids read a second. */
  readonly idsPerSecond: number;
  /** 0 to 1 of the scan; undefined while the number of ids is not known. */
  readonly share: number | undefined;
  /** Time the scan still needs at its present rate; undefined while it is not known. */
  readonly remainingMs: number | undefined;
}

/** Absent ids of a client in this minute and the last one. */
export interface BloomClientAbsents {
  /** As the option `attack.client` names it; its hash, if that is longer than 64 characters. */
  readonly client: string;
  /** How many at most. */
  readonly absents: number;
  /** How many fewer it may have been. */
  readonly error: number;
}

/** An event of something that failed. */
export interface BloomEventError {
  /** What was thrown. */
  error: unknown;
}
