import type { BloomUnknownReason, LookupOutcome } from './verdict.js';

/** A local lookup is timed when all these bits of `local` are set: one of 1,024, which costs nothing. */
export const TIMED = 1023;

/** Counts the lookups and adds of one filter where the store carries them out. Notes nothing of ids. */
export interface StoreRecorder {
  /** Lookups that this process has answered alone; the store adds to it, which costs less than a call. */
  local: number;

  /** How long a local lookup took, in milliseconds. */
  recordLocalTime(ms: number): void;

  /** One lookup of ids over the network, and how long it took. */
  recordLookups(outcomes: readonly LookupOutcome[], ms: number): void;

  /** Lookups that this process could not answer, and did not ask the store for. */
  recordUnknown(reason: BloomUnknownReason, ids: number): void;

  /** One call that recorded ids, or took too long. */
  recordAdd(ids: number, ms: number): void;

  /** One such call waited for processes that answer from a copy, for so long. */
  recordWait(ms: number): void;
}

/** For a store that nobody counts for. */
export const NO_RECORDER: StoreRecorder = {
  local: 0,
  recordLocalTime() {},
  recordLookups() {},
  recordUnknown() {},
  recordAdd() {},
  recordWait() {},
};
