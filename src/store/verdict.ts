/**
 * `absent`: the id is certainly not in the set. `maybe`: it is, or the error rate struck. `unknown`: the
 * filter does not know just now, and the lookup has to go through.
 */
export type BloomVerdict = 'absent' | 'maybe' | 'unknown';
export type KnownVerdict = Exclude<BloomVerdict, 'unknown'>;

/**
 * Why a lookup was `unknown`. `unbuilt`, `lost`, `suspect`: the state of the filter. `timeout`: the store did
 * not answer in time. `circuit`: it was not asked, as it did not answer the last lookups. `error`: it
 * answered with an error, or could not be reached. `other-owner`: the filter belongs to another application.
 * `newer-format`: a newer version wrote it. `other-partitions`: it is stored in another number of parts.
 * `changing`: it changed during each attempt. `invalid-id`: the value cannot be an id, or not one of this
 * layout, or a function of the guard threw over it. `beyond`: the filter does not have the id, which comes
 * after all those that are known to be in it (`coverage`).
 */
export type BloomUnknownReason =
  | 'unbuilt'
  | 'lost'
  | 'suspect'
  | 'timeout'
  | 'circuit'
  | 'error'
  | 'other-owner'
  | 'newer-format'
  | 'other-partitions'
  | 'changing'
  | 'invalid-id'
  | 'beyond';

/** All reasons for `unknown`, in the order of the documentation. */
export const UNKNOWN_REASONS: readonly BloomUnknownReason[] = [
  'unbuilt',
  'lost',
  'suspect',
  'timeout',
  'circuit',
  'error',
  'other-owner',
  'newer-format',
  'other-partitions',
  'changing',
  'invalid-id',
  'beyond',
];

/** A verdict, and in place of `unknown` the reason of it. */
export type LookupOutcome = Exclude<BloomVerdict, 'unknown'> | BloomUnknownReason;

/** The verdict, without the reason of `unknown`. */
export function verdictOf(outcome: LookupOutcome): BloomVerdict {
  return outcome === 'maybe' || outcome === 'absent' ? outcome : 'unknown';
}
