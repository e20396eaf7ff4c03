import type { StagePlan, Staging } from '../../index.js';

/** What a staging is made with, under a lease. */
export interface StagingContext {
  readonly plan: StagePlan;
  /** Token of the lease. */
  readonly lease: string;
  /** Token of this staging; part of its keys. */
  readonly token: string;
  readonly lifeMs: number;
  /**
   * Asks the server whether it has memory for so many bytes, before anything is written.
   *
   * @throws {BloomRebuildError} when it has not.
   */
  readonly claim: (bytes: number) => Promise<void>;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
}

/** A staging whose keys the holder of the lease keeps alive. */
export interface LeasedStaging extends Staging {
  /** Keys with a life. */
  keysToRenew(): string[];

  /** Writes the empty filter, then makes it known to every process that adds. */
  open(): Promise<void>;
}
