import {
  BloomConfigError,
  BloomIdError,
  type BloomRebuildFailure,
  BloomRebuildError,
  describeError,
} from '../common/index.js';

/** An error of the id source, told apart from one of the store. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super(describeError(cause), { cause });
  }
}

/** Whatever ended a run, as the one error that a rebuild rejects with. */
export function rebuildError(name: string, error: unknown, signal: AbortSignal): BloomRebuildError {
  const cause = error instanceof SourceError ? error.cause : error;
  const told = signal.aborted && error === signal.reason;
  const reason = reasonOf(error, told);
  const message =
    `The rebuild of filter '${name}' ended without a new generation (${reason}); the filter that was live still is. ` +
    describeError(cause);
  const { retryAfterMs } = error instanceof BloomRebuildError ? error : {};
  return new BloomRebuildError(reason, message, { cause, retryAfterMs });
}

function reasonOf(error: unknown, told: boolean): BloomRebuildFailure {
  if (error instanceof BloomRebuildError) return error.reason;
  if (told) return 'aborted';
  if (error instanceof SourceError) return error.cause instanceof BloomIdError ? 'bad-id' : 'source-failed';
  // The plan for this many ids would exceed the largest filter.
  if (error instanceof BloomConfigError) return 'too-many-ids';
  return 'store-failed';
}
