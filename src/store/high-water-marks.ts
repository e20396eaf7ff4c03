import { BloomUnavailableError } from '../common/index.js';

/**
 * What the processes of an application share of one filter's rows that others write: which process follows
 * these writers, and how far it has come. The store keeps the texts and does not read them.
 */
export interface HighWaterMarks {
  /**
   * Asks how far the filter has come, and who follows.
   *
   * @throws {MarksRefusedError} when the store does not let this user.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  ask(question: MarksQuestion): Promise<MarksAnswer>;

  /**
   * Notes how far the filter has come. Returns false, and notes nothing, when another process follows by now,
   * or the mark is another one than the caller believes.
   *
   * @throws {BloomUnavailableError} when it could not be noted, or it is not known whether it was.
   */
  record(note: MarksUpdate): Promise<boolean>;
}

export interface MarksQuestion {
  /** Names the process. */
  readonly holder: string;
  /** How long the process follows unless it asks again, in milliseconds; 0 gives up what it holds. */
  readonly lifeMs: number;
}

export interface MarksAnswer {
  /** Whether the process that asked is the one that follows. */
  readonly isHolder: boolean;
  readonly entries: MarkEntries;
  /**
   * How long ago the process that follows has noted something, in milliseconds; undefined where that is not
   * known.
   */
  readonly ageMs: number | undefined;
}

export interface MarksUpdate {
  /** The process that follows; undefined for a note that any process may make. */
  readonly holder: string | undefined;
  /** The mark as the caller believes it to be, '' for none. */
  readonly expectedMark: string | undefined;
  readonly entries: MarkEntries;
}

/** Texts; one that is '' is removed. */
export interface MarkEntries {
  /** Up to it every row is in the filter. */
  readonly mark?: string | undefined;
  /** The last one that was read. */
  readonly newest?: string | undefined;
  /** Ids before the mark of which it is not known that all rows are in the filter. */
  readonly gaps?: string | undefined;
  /** Why the mark is not believed; a rebuild that finds all rows up to it removes that. */
  readonly doubt?: string | undefined;
  /** How far a feed has come. */
  readonly position?: string | undefined;
}

/** The store does not let this user read or write the marks. */
export class MarksRefusedError extends BloomUnavailableError {}
