import { BloomUnavailableError } from '../../../common/index.js';
import {
  type BloomUnknownReason,
  type BloomVerdict,
  type LookupOutcome,
  OtherPartitionsError,
} from '../../index.js';
import { CircuitOpenError } from '../client/lookups-by-node.js';
import { DeadlineError } from '../client/deadline.js';
import { OtherOwnerError } from './filter-owner.js';
import { NewerFormatError } from './metadata-reports.js';

/** What ioredis says of a command that took longer than the option `commandTimeout` of a client. */
const TIMED_OUT_BY_CLIENT = 'Command timed out';

/** The filter was another one in each attempt. */
export class KeepsChangingError extends BloomUnavailableError {}

/** @param error what a lookup has failed with. */
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

const REASONS = [
  /** Another generation is live or staged. */
  'STALE',
  /** The generation is right, and what it names is not there or not the same. */
  'LOST',
  /** The generation was not found where it should be. Whether it is lost or another one is live, the metadata say. */
  'UNPROVED',
  /** There are no metadata. */
  'NOMETA',
] as const;

/** Why nothing was answered or written: the filter is not as this process knew it. */
export type Outdated = (typeof REASONS)[number];

export function isOutdated(reply: string): reply is Outdated {
  return (REASONS as readonly string[]).includes(reply);
}
