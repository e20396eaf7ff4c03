import type { FilterShape, IdKey } from '../../filter/index.js';
import type { LocalFilter } from '../index.js';

/** A filter in the memory of this process, of one layout. */
export interface InMemoryFilter {
  /** Distinct ids that it holds at its error rate. */
  readonly capacity: number;
  readonly bytes: number;

  /** @throws {BloomIdError} for an id that cannot be added. */
  assertFits(id: IdKey): void;

  /** True when the id was not there before. */
  addKey(id: IdKey): boolean;

  mightContainKey(id: IdKey): boolean;

  /** What it is like when it holds so many ids. */
  shape(ids: number): FilterShape;

  /** A place for what a scan reads. */
  scan(): InMemoryScan;
}

export interface InMemoryScan {
  /** Distinct ids it takes before a larger filter has to be planned. */
  readonly capacity: number;
  readonly local: LocalFilter;

  /** Brings all that is in `local` into the filter, a step at a time. */
  merge(): Iterable<void>;
}
