import { type BloomFilterState, BloomRebuildError, BloomUnavailableError } from '../common/index.js';
import { notRecordedIn } from './store.messages.js';

/**
 * The filter is stored in another number of parts, or not in parts. The event `other-partitions` reports it
 * once.
 */
export class OtherPartitionsError extends BloomUnavailableError {}

/** Some parts of a filter could not be rebuilt, and the others have a new generation. */
export class PartlyRebuiltError extends BloomRebuildError {}

/**
 * The error of an add to a filter without a source that is not ready: what is added now, no rebuild would
 * ever find.
 *
 * @param filter its key too, if that is not clear from its name.
 */
export function notRecorded(
  filter: { readonly name: string; readonly key?: string },
  state: BloomFilterState,
): BloomUnavailableError {
  return new BloomUnavailableError(notRecordedIn(filter, state));
}
