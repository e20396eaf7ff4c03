import type { BloomUnknownReason } from './verdict.js';

/** One of so many local lookups is timed, so that measuring costs nothing that can be felt. A power of two. */
export const TIMED_EVERY = 1024;

/** Counts the lookups and adds of one filter where the store carries them out. Notes nothing of ids. */
export interface StoreRecorder {
  /** Lookups that this process has answered alone; the store adds to it, which costs less than a call. */
  local: number;

  /** How long one of `TIMED_EVERY` local lookups took, in milliseconds. */
  timedLocal(ms: number): void;

  /** One call for ids over the network: how many it was for, and how many of them it answered. */
  called(ids: number, answered: number, ms: number): void;

  /** Lookups that nobody could answer. */
  unknown(reason: BloomUnknownReason, ids: number): void;

  /** One call that recorded ids, or failed to. */
  added(ids: number, ms: number): void;
}

/** For a store that nobody counts for. */
export const NO_RECORDER: StoreRecorder = {
  local: 0,
  timedLocal() {},
  called() {},
  unknown() {},
  added() {},
};
