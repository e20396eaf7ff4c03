import {
  BloomConfigError,
  BloomIdError,
  type BloomRebuildFailure,
  BloomRebuildError,
  describeError,
} from '../common/index.js';
import { PartlyRebuiltError } from '../store/index.js';
import { rebuildEnded, rebuildEndedPartly } from './rebuild.messages.js';

/** An error of the id source, as opposed to one of the store. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super(describeError(cause), { cause });
  }
}

/** Turns any error that ended a run into the one that a rebuild rejects with. */
export function rebuildError(name: string, error: unknown, signal: AbortSignal): BloomRebuildError {
  const cause = error instanceof SourceError ? error.cause : error;
  const isAborted = signal.aborted && error === signal.reason;
  const reason = reasonOf(error, isAborted);
  const ended = error instanceof PartlyRebuiltError ? rebuildEndedPartly : rebuildEnded;
  const message = ended(name, reason, describeError(cause));
  const { retryAfterMs } = error instanceof BloomRebuildError ? error : {};
  return new BloomRebuildError(reason, message, { cause, retryAfterMs });
}

function reasonOf(error: unknown, isAborted: boolean): BloomRebuildFailure {
  if (error instanceof BloomRebuildError) return error.reason;
  if (isAborted) return 'aborted';
  if (error instanceof SourceError) return error.cause instanceof BloomIdError ? 'bad-id' : 'source-failed';
  // The plan for this many ids would exceed the largest filter.
  if (error instanceof BloomConfigError) return 'too-many-ids';
  return 'store-failed';
}
