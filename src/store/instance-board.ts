import { BloomUnavailableError } from '../common/index.js';

/**
 * What the processes of an application report to each other of one filter. The store keeps the texts for as
 * long as they are needed, and does not read them.
 */
export interface InstanceBoard {
  /**
   * Reports this process, and returns what it has to hear; undefined when the store was not asked, since it
   * does not answer lookups.
   *
   * @throws {BoardRefusedError} when the store does not let this user.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  beat(beat: InstanceBeat): Promise<BoardNews | undefined>;

  /**
   * Calls `onMode` from now on with the mode of all processes as each look at what is stored of the filter
   * finds it. Left out by a board that says it with beats alone.
   */
  followMode?(onMode: (mode: BoardMode | undefined) => void): void;

  /**
   * Looks at what is stored of the filter, and writes nothing.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  look?(): Promise<void>;

  /** Takes back the report of a process that ends. */
  leave(instance: string): Promise<void>;

  /**
   * Keeps the record of a run that has ended, and ends what is reported of it. The same one may be noted
   * twice.
   */
  recordRun(run: EndedRun): Promise<void>;

  /** @throws {BloomUnavailableError} when the store cannot be asked. */
  read(): Promise<BoardContents>;

  /**
   * Sets the mode of all processes, or withdraws it.
   *
   * @param after no record of a time before this one is believed any more: that of the last one that the
   * caller has heard.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  setMode(mode: Omit<BoardMode, 'at'>, after: number): Promise<BoardMode>;

  /**
   * Asks the process that rebuilds to stop; false when none reports that it does.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  askToStop(by: string): Promise<boolean>;
}

export interface InstanceBeat {
  readonly instance: string;
  readonly text: string;
  /** In milliseconds. The report is gone after that unless it is renewed. */
  readonly lifeMs: number;
  /** The run of this process. */
  readonly run?: { readonly id: string; readonly text: string; readonly lifeMs: number } | undefined;
  /** The last record that this process has heard: a store that has an older one, or none, takes it. */
  readonly mode?: BoardMode | undefined;
}

/** The mode of all processes, or that there is none any more. */
export interface BoardMode {
  /** Undefined: it was withdrawn. */
  readonly mode: string | undefined;
  readonly by: string;
  /**
   * In milliseconds since 1970, by the clock of the store; each record has a later one than the one before.
   */
  readonly at: number;
}

export interface BoardNews {
  readonly mode: BoardMode | undefined;
  /** The instance that wants the run of this process to stop. */
  readonly stopBy: string | undefined;
  /** Why the report was not taken. */
  readonly failure?: BloomUnavailableError | undefined;
}

export interface EndedRun {
  readonly id: string;
  readonly text: string;
}

export interface BoardContents {
  readonly instances: readonly { readonly id: string; readonly seenAt: number; readonly text: string }[];
  /** The latest first. */
  readonly runs: readonly string[];
  readonly running: string | undefined;
  readonly mode: BoardMode | undefined;
}

/** Records of runs that are kept. */
export const RUNS_KEPT = 50;
/** No report is believed for longer, in milliseconds. */
export const LONGEST_LIFE_MS = 600_000;

/** The store does not let this user read or write a board. */
export class BoardRefusedError extends BloomUnavailableError {}
