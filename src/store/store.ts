import type { BloomEventListener, BloomFilterState, Clock } from '../common/index.js';
import type { BloomLayout, FilterFill, IdKey } from '../filter/index.js';
import type { FilterContents, FilterDescription } from './filter-description.js';
import type { HighWaterMarks } from './high-water-marks.js';
import type { InstanceBoard } from './instance-board.js';
import type { BloomCopyLease } from './lease-server.js';
import type { SharedNegativeCache, SharedNegativeCacheOptions } from './negative-cache.js';
import type { LeaseRequest, RebuildLease, StagePlan } from './staging.js';
import type { StoreRecorder } from './store-recorder.js';
import type { BloomVerdict, LookupOutcome } from './verdict.js';

/** Where filters live. Made once for an application, closed with it. */
export interface FilterStore {
  /** For people: `memory` or `redis`. */
  readonly kind: string;
  /** @throws {BloomConfigError} when this store has no filters of the layout. */
  open(options: OpenFilterOptions): StoredFilter;
  /** Closes connections that are its own. */
  close(): Promise<void>;
}

/** What a filter is opened with. */
export interface OpenFilterOptions {
  /** The filter's name. */
  readonly name: string;
  /** Called with events. */
  readonly emit: BloomEventListener;
  /** What tells the time. */
  readonly clock: Clock;
  /** Whose rules the bits are found by. */
  readonly layout: BloomLayout;
  /** What the filter is planned for, in this process. */
  readonly plan: StagePlan;
  /** Whether the filter can be rebuilt. One on keys of others that cannot is taken as they have left it. */
  readonly hasSource: boolean;
  /**
   * Which ids this process would build the filter of. A store that several processes share keeps them with
   * each generation. It answers nothing from one with other contents, and acknowledges no add into it. It
   * rejects while that is not known. Left out: all processes have the same.
   */
  readonly contents?: (() => FilterContents | Promise<FilterContents>) | undefined;
  /** The application that claims the filter; undefined: that of the store; false: none. */
  readonly owner?: string | false | undefined;
  /** Whether a filter without a source is made by nobody but `reset()`. */
  readonly waitsForReset?: boolean | undefined;
  /** Over how many parts, each a stored filter of its own, the ids are dealt; undefined: it is one filter. */
  readonly partitions?: number | undefined;
  /** Which part of a filter is opened; undefined: the filter is whole. */
  readonly part?: FilterPart | undefined;
  /** Whether this process keeps a copy of the filter; undefined: as the store thinks best. */
  readonly replica?: BloomReplicaMode | undefined;
  /**
   * For how long at a time a process may answer "absent" from its copy, in milliseconds. Set where some
   * process does, also by one that only adds; undefined: none does.
   */
  readonly leaseMs?: number | undefined;
  /**
   * Returns whether a copy is sure to have an id, if its blocks are read after the call; undefined where it
   * is sure of none. Such an id that the copy lacks is absent, whatever becomes of the store.
   */
  readonly covers?: (() => CoveredIds | undefined) | undefined;
  /** Longest time from the call of `add` to the visible row, in milliseconds. */
  readonly drainMs: number;
  /** Called with what the reply of an add says, where it does; must not throw. */
  readonly onLoad?: ((load: FilterLoad) => void) | undefined;
  /** Counts lookups and adds; left out: nobody does. */
  readonly recorder?: StoreRecorder | undefined;
  /** Remembers for all processes, where there is more than one, which ids the database has denied. */
  readonly negativeCache?: SharedNegativeCacheOptions | undefined;
}

/** Ids that a copy is sure to have, until the era is over. */
export interface CoveredIds {
  /** Over when a later mark no longer counts for copies of before. */
  readonly era: {
    /** Whether it is over. */
    readonly isOver: boolean;
  };
  /** Whether the id is one of them. */
  readonly holds: (id: IdKey) => boolean;
}

/** One of the parts of a filter, which are numbered from 0. */
export interface FilterPart {
  /** From 0. */
  readonly index: number;
  /** How many parts there are. */
  readonly of: number;
  /**
   * The epoch of the whole filter, read after the call; '' when it is one of other contents. Left out:
   * generations have none.
   */
  readonly epoch?: (() => Promise<string>) | undefined;
}

/** How many ids a live generation holds, as the reply of an add says. */
export interface FilterLoad {
  /** Undefined for a filter that is whole. */
  readonly part?: number | undefined;
  /** Which one. */
  readonly generation: string;
  /** Ids that were new to it: of those that pass already, none is counted. */
  readonly count: number;
  /** Ids that it is planned for. */
  readonly capacity: number;
}

/**
 * `verified`: a copy answers "maybe" on its own, and what it has not is asked of the store. `covered`: it
 * answers "absent" too, up to the mark from before it was read, and adds of older ids are refused. `leased`:
 * it answers "absent" of any id, and adds of all processes wait for it, or for its lease to end.
 */
export type BloomReplicaMode = 'off' | 'verified' | 'covered' | 'leased';

/**
 * One filter in a store. A member that may be undefined is what only some filters can. Bulk is the primitive;
 * concurrent calls of one tick may share a round trip.
 */
export interface StoredFilter {
  /**
   * Names the live generation as this process knows it now, without asking; undefined where it does not know.
   */
  readonly generation: string | undefined;

  /** How the filter stood when this process looked last. */
  readonly status: StoredFilterStatus;

  /** A verdict for each id, in order. Never rejects: what fails is `unknown` and one event. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /**
   * The same for one id, which is the hot path: at once where this process knows the verdict, and with the
   * reason where it is `unknown`.
   */
  checkOne(id: IdKey): LookupOutcome | Promise<LookupOutcome>;

  /**
   * Records ids; resolves when every one of them is recorded wherever a verdict may be taken from: the live
   * generation and the staged one. For each id, true when it was not there before. A filter with a source
   * takes ids also while none is live: a rebuild will find their rows.
   *
   * @throws {BloomIdError} for an id over `maxIdBytes`; then none is recorded.
   * @throws {BloomUnavailableError} when the ids could not be recorded, or the filter has no source and is
   * not ready.
   */
  add(ids: readonly IdKey[]): Promise<boolean[]>;

  /**
   * What the store says of the filter now.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  describe(): Promise<FilterDescription>;

  /**
   * Takes the filter out of service for all processes, as `suspect`, until it is rebuilt.
   *
   * @param pauses between two calls with pauses, of whichever process; left out: it is never too early.
   * @returns false when that is too early, or the filter is not in service.
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  distrust(reason: string, pauses?: DistrustPauses): Promise<boolean>;

  /**
   * Whether the store can have this filter at all, asked when the application starts. Resolves also when it
   * cannot be asked.
   *
   * @throws {BloomConfigError} when it never can: what is missing, and what to do.
   */
  verify(): Promise<void>;

  /** What in the setup of the store endangers a filter, each with what to do about it. Never rejects. */
  advise(filter: AdvisedFilter): Promise<readonly string[]>;

  /**
   * The right to rebuild, for one process at a time; undefined while another one holds it, or when no build
   * is due.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  lease(request: LeaseRequest): Promise<RebuildLease | undefined>;

  /** Frees what the filter has in this process. */
  close(): Promise<void>;

  /**
   * Removes ids, once each; of a layout that can. For each, false when it is certainly not there, or has to
   * stay. Only ids that were added may be removed: any other may take out one that was.
   *
   * @throws {BloomUnavailableError} when the ids could not be removed.
   */
  remove?: ((ids: readonly IdKey[]) => Promise<boolean[]>) | undefined;

  /**
   * Takes the filter as it stands now, after a loss or before its first build; on a key that others fill.
   *
   * @throws {BloomFormatError} when the key holds something else.
   * @throws {BloomUnavailableError} when there is no such key, or the store cannot be asked.
   */
  adopt?: (() => Promise<void>) | undefined;

  /**
   * The share of absent ids that pass and of the bits that are set, in a sample of the blocks; undefined
   * while nothing is live. Without it the description has more than the error rate of the plan.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  measureFill?: (() => Promise<FilterFill | undefined>) | undefined;

  /** Where it was opened with `negativeCache`, on a store that several processes share. @internal */
  readonly negativeCache?: SharedNegativeCache | undefined;

  /** By which the processes that have the filter report to each other. @internal */
  readonly board?: InstanceBoard | undefined;

  /** How far the processes that have the filter have come with the rows that others write. @internal */
  readonly highWaterMarks?: HighWaterMarks | undefined;

  /** Whether this process answers "absent" from a copy, where it may have one that does. */
  readonly copyLease?: BloomCopyLease | undefined;

  /** Whether the last whole copy of any generation has the id: no answer may depend on it. */
  hasHint?: ((id: IdKey) => boolean) | undefined;

  /** Where the filter may be a part of one that several processes share. @internal */
  readonly epochs?: PartEpochs | undefined;
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

/** How a filter stood when this process looked last. */
export interface StoredFilterStatus {
  /** Undefined before the first look, and for a filter that this process leaves alone. */
  readonly state: BloomFilterState | undefined;
  /** Whether lookups are not sent, since the store did not answer the last ones. */
  readonly isCircuitOpen: boolean;
}

/** Pauses that double while calls follow one another, from the first to the last. In milliseconds. */
export interface DistrustPauses {
  /** The first one. */
  readonly firstMs: number;
  /** The longest one. */
  readonly lastMs: number;
}

/** What advice on a filter depends on. */
export interface AdvisedFilter {
  /** Its size. */
  readonly bytes: number;
  /** Whether it can be rebuilt. */
  readonly hasSource: boolean;
  /**
   * Whether a filter without a source that is found nowhere is made, or taken as it is, without being asked
   * for.
   */
  readonly isCreatedAutomatically?: boolean;
  /** Longest time from an add to its visible row, in milliseconds. */
  readonly drainMs: number;
  /** For how long an add may wait for readers, in milliseconds; undefined: for none. */
  readonly leaseMs?: number | undefined;
  /** Called when the store could not be asked: there may be more to say. */
  readonly onIncomplete?: (() => void) | undefined;
}
