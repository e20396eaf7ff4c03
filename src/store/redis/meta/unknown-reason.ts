import {
  type BloomError,
  BloomFullError,
  BloomUnavailableError,
  describeError,
} from '../../../common/index.js';
import {
  type BloomUnknownReason,
  type BloomVerdict,
  type LookupOutcome,
  OtherPartitionsError,
} from '../../index.js';
import { CircuitOpenError } from '../client/lookups-by-node.js';
import { DeadlineError } from '../client/deadline.js';
import { OtherOwnerError } from './filter-owner.js';
import { notCarriedOut } from './meta.messages.js';
import { NewerFormatError } from './metadata-reports.js';

/** What ioredis says of a command that took longer than the option `commandTimeout` of a client. */
const TIMED_OUT_BY_CLIENT = 'Command timed out';

/** The filter was another one in each attempt. */
export class KeepsChangingError extends BloomUnavailableError {}

/** @param error that of a lookup. */
export function reasonOf(error: unknown): BloomUnknownReason {
  if (error instanceof CircuitOpenError) return 'circuit';
  if (isTimeout(error)) return 'timeout';
  if (error instanceof OtherOwnerError) return 'other-owner';
  if (error instanceof NewerFormatError) return 'newer-format';
  if (error instanceof OtherPartitionsError) return 'other-partitions';
  return error instanceof KeepsChangingError ? 'changing' : 'error';
}

export function isTimeout(error: unknown): boolean {
  if (error instanceof DeadlineError) return true;
  if (!(error instanceof Error)) return false;
  return error.message === TIMED_OUT_BY_CLIENT || isTimeout(error.cause);
}

/** The generation did answer, so `unknown` means an id that this layout cannot hold. */
export function outcomesOf(verdicts: BloomVerdict[]): LookupOutcome[] {
  return verdicts.includes('unknown')
    ? verdicts.map((verdict) => (verdict === 'unknown' ? 'invalid-id' : verdict))
    : (verdicts as LookupOutcome[]);
}

/**
 * Why nothing was answered or written: the filter is not as this process knew it. `STALE`: another generation
 * is live or staged. `LOST`: what the generation names is not there or not the same. `UNPROVED`: the
 * generation was not found where it should be, and the metadata say whether it is lost. `NOMETA`: there are
 * no metadata.
 */
export type Outdated = 'STALE' | 'LOST' | 'UNPROVED' | 'NOMETA';

/** Whatever the cause, the caller of an add gets one kind of error. */
export async function unavailable<Value>(promise: Promise<Value>): Promise<Value> {
  try {
    return await promise;
  } catch (error) {
    throw asUnavailable(error);
  }
}

export function asUnavailable(error: unknown): BloomError {
  if (error instanceof BloomUnavailableError || error instanceof BloomFullError) return error;
  return new BloomUnavailableError(notCarriedOut(describeError(error)), { cause: error });
}
