import type { BloomEventListener, Clock } from '../common/index.js';
import type { BloomId, IdKey } from '../filter/index.js';
import type { StoredFilter, BuildOccasion, FilterDescription } from '../store/index.js';
import type { BloomRebuildOptions } from './report.js';
import type { BloomIdSource } from './source.js';

/** All that one rebuild works with. */
export interface RebuildJob {
  readonly name: string;
  readonly store: StoredFilter;
  readonly source: BloomIdSource;
  /** The hashable form of an id, as lookups of this filter form it. */
  readonly toKey: (id: unknown) => IdKey;
  /**
   * Whether `toKey` forms keys by this function. A source that does so itself can spare it the work. Default:
   * by none that is known.
   */
  readonly spellsAs?: (normalize: ((id: BloomId) => BloomId) | undefined) => boolean;
  /** Ids that the filter must hold at least. */
  readonly capacity: number;
  /** The capacity is not known, so that the count of the source is believed. */
  readonly isCounted?: boolean;
  readonly errorRate: number;
  readonly maxIdBytes: number;
  /** Whether integers may get a bit each, where that takes less. Default false. */
  readonly mayBeExact?: boolean;
  /** Bytes of a filter of so many ids; throws for more than there can be. */
  readonly bytesFor?: (ids: number) => number;
  /**
   * Memory for what ids are read into: a larger filter is filled in several passes over the source. Default:
   * any.
   */
  readonly memoryBytes?: number;
  /** No larger filter is staged. Default: any. */
  readonly maxBytes?: number;
  /** What is done with an id that cannot be added. Default `fail`. */
  readonly onBadId?: 'fail' | 'skip';
  /** Longest time from an add to its row being visible to the source. */
  readonly drainMs: number;
  /** Share of the ids of the last build below which a generation is refused. */
  readonly minRatio: number;
  /** Whether ids beyond the rows are let through, and no row was ever found: an empty table denies none. */
  readonly isNewTable?: () => boolean;
  readonly leaseMs: number;
  /** Time without anything from the source after which the run fails. */
  readonly stallMs: number;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
}

export interface RebuildRequest extends BloomRebuildOptions {
  /** Why the build is asked for; left out of one that is always due, and of which nothing is noted. */
  readonly occasion?: BuildOccasion;
  /** Asked once the lease is held: a reason not to rebuild after all. */
  readonly unless?: (found: FilterDescription) => string | undefined;
}
