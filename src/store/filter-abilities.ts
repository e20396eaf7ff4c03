import type { FilterFill, IdKey } from '../filter/index.js';
import type { BloomCopyLease } from './lease-server.js';
import type { InstanceBoard } from './instance-board.js';
import type { SharedNegativeCache } from './negative-cache.js';
import type { HighWaterMarks } from './high-water-marks.js';
import type { StoredFilter } from './store.js';

/** A filter of a layout that can remove ids. */
export interface RemovableFilter extends StoredFilter {
  /**
   * Removes ids, once each. For each, false when it is certainly not there, or has to stay. Only ids that
   * were added may be removed: any other may take out one that was.
   *
   * @throws {BloomUnavailableError} when the ids could not be removed.
   */
  remove(ids: readonly IdKey[]): Promise<boolean[]>;
}

/** A filter on a key that other systems fill. */
export interface AdoptableFilter extends StoredFilter {
  /**
   * Takes the filter as it stands now, after a loss or before its first build.
   *
   * @throws {BloomFormatError} when the key holds something else.
   * @throws {BloomUnavailableError} when there is no such key, or the store cannot be asked.
   */
  adopt(): Promise<void>;
}

/** A filter whose description gives the error rate of its plan, and which can measure the real one. */
export interface MeasurableFilter extends StoredFilter {
  /**
   * The share of absent ids that pass and of the bits that are set, in a sample of the blocks; undefined
   * while nothing is live.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  measureFill(): Promise<FilterFill | undefined>;
}

/** A filter that was opened with `negativeCache`, on a store that several processes share. */
export interface NegativeCachingFilter extends StoredFilter {
  readonly negativeCache: SharedNegativeCache;
}

/** A filter of which several processes may know, on a store by which they report to each other. */
export interface BoardedFilter extends StoredFilter {
  readonly board: InstanceBoard;
}

/** A filter of which this process may answer "absent" from a copy. */
export interface LeasingFilter extends StoredFilter {
  readonly copyLease: BloomCopyLease;
}

/**
 * A filter of which several processes may know, on a store that keeps how far they have come with the rows
 * that others write.
 */
export interface MarkedFilter extends StoredFilter {
  readonly highWaterMarks: HighWaterMarks;
}

/**
 * What a part of a filter does for the filter as a whole, where several processes share it. The part of an id
 * depends on its spelling. So processes with other contents are kept apart in all parts together: every
 * generation is built in an epoch, which the first part names.
 */
export interface PartEpochs {
  /**
   * The epoch as the store has it now, '' for none.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  ask(): Promise<string>;

  /**
   * Puts another text in the place of `before`, unless the store has a different one; returns what it has
   * then.
   */
  replace(before: string, next: string): Promise<string>;

  /**
   * Ends what is live and staged in this part with other contents than this process has, or of another epoch.
   * Resolves when no process answers from it any more.
   *
   * @throws {BloomUnavailableError} when that could not be done.
   */
  endOthers(): Promise<void>;
}

/** A filter that may be a part of one that several processes share. */
export interface EpochFilter extends StoredFilter {
  readonly epochs: PartEpochs;
}

export function isRemovable(filter: StoredFilter): filter is RemovableFilter {
  return has<RemovableFilter>(filter, 'remove');
}

export function isAdoptable(filter: StoredFilter): filter is AdoptableFilter {
  return has<AdoptableFilter>(filter, 'adopt');
}

export function isMeasurable(filter: StoredFilter): filter is MeasurableFilter {
  return has<MeasurableFilter>(filter, 'measureFill');
}

export function sharesNegativeCache(filter: StoredFilter): filter is NegativeCachingFilter {
  return has<NegativeCachingFilter>(filter, 'negativeCache');
}

export function hasBoard(filter: StoredFilter): filter is BoardedFilter {
  return has<BoardedFilter>(filter, 'board');
}

export function hasEpochs(filter: StoredFilter): filter is EpochFilter {
  return has<EpochFilter>(filter, 'epochs');
}

export function leasesCopy(filter: StoredFilter): filter is LeasingFilter {
  return has<LeasingFilter>(filter, 'copyLease');
}

export function hasHighWaterMarks(filter: StoredFilter): filter is MarkedFilter {
  return has<MarkedFilter>(filter, 'highWaterMarks');
}

/**
 * One class may serve filters with and without an ability: then the member of those without it is undefined.
 */
function has<Able extends StoredFilter>(
  filter: StoredFilter,
  member: Exclude<keyof Able, keyof StoredFilter>,
) {
  return (filter as Partial<Able>)[member] !== undefined;
}
