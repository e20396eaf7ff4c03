import type { BloomEventListener, BloomFilterState, Clock } from '../common/index.js';
import type { BuildOutcome, LeaseRequest } from './build-occasion.js';
import type { FilterContents } from './filter-contents.js';
import type { FilterDescription } from './filter-description.js';
import type { SharedNegativeCacheOptions } from './negative-cache.js';
import type { StoreRecorder } from './store-recorder.js';
import type { BloomVerdict, LookupOutcome } from './verdict.js';
import type { BloomLayout, IdKey, IdRun } from '../filter/index.js';

/** Where filters live. Made once for an application, closed with it. */
export interface FilterStore {
  /** For people: `memory` or `redis`. */
  readonly kind: string;
  /** @throws {BloomConfigError} when this store has no filters of the layout. */
  open(options: OpenFilterOptions): StoredFilter;
  close(): Promise<void>;
}

export interface OpenFilterOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
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
   * For how long at a time a process may answer "absent" from its copy, in milliseconds. Set where some process does, also by one that
   * only adds; undefined: none does.
   */
  readonly leaseMs?: number | undefined;
  /** Longest time from the call of `add` to the visible row, in milliseconds. */
  readonly drainMs: number;
  /** Called with what the reply of an add says, where it does; must not throw. */
  readonly onLoad?: ((load: FilterLoad) => void) | undefined;
  /** Counts lookups and adds; left out: nobody does. */
  readonly recorder?: StoreRecorder | undefined;
  /** Remembers for all processes, where there is more than one, which ids the database has denied. */
  readonly negativeCache?: SharedNegativeCacheOptions | undefined;
}

/** One of the parts of a filter, which are numbered from 0. */
export interface FilterPart {
  readonly index: number;
  readonly of: number;
  /**
   * The epoch of the whole filter, read after the call; '' when it is one of other contents. Left out:
   * generations have none.
   */
  readonly epoch?: (() => Promise<string>) | undefined;
}

/** How many ids a live generation holds, as the reply of an add says. */
export interface FilterLoad {
  readonly generation: string;
  /** Ids that were new to it: of those that pass already, none is counted. */
  readonly count: number;
  readonly capacity: number;
}

/**
 * `verified`: a copy answers "maybe" on its own, and what it has not is asked of the store. `leased`: it answers "absent" too, and adds of all processes wait for it, or
 * for its lease to end.
 */
export type BloomReplicaMode = 'off' | 'verified' | 'leased';

/**
 * One filter in a store: what every one can do. What only some can is in `filter-abilities.ts`. Bulk is the primitive; concurrent calls of
 * one tick may share a round trip.
 */
export interface StoredFilter {
  /** Names the live generation as this process knows it now, without asking; undefined where it does not know. */
  readonly generation: string | undefined;

  /** How the filter stood when this process looked last. */
  readonly status: StoredFilterStatus;

  /** A verdict for each id, in order. Never rejects: what fails is `unknown` and one event. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /** The same for one id, which is the hot path: at once where this process knows the verdict, and with the reason where it is `unknown`. */
  checkOne(id: IdKey): LookupOutcome | Promise<LookupOutcome>;

  /**
   * Records ids; resolves when every one of them is recorded wherever a verdict may be taken from: the live generation
   * and the staged one. For each id, true when it was not there before. A filter with a source takes ids also while none is live: a
   * rebuild will find their rows.
   *
   * @throws {BloomIdError} for an id over `maxIdBytes`; then none is recorded.
   * @throws {BloomUnavailableError} when the ids could not be recorded, or the filter has no source and is not ready.
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
   * Whether the store can have this filter at all, asked when the application starts. Resolves also when it cannot be asked.
   *
   * @throws {BloomConfigError} when it never can: what is missing, and what to do.
   */
  verify(): Promise<void>;

  /** What in the setup of the store endangers a filter, each with what to do about it. Never rejects. */
  advise(filter: AdvisedFilter): Promise<readonly string[]>;

  /**
   * The right to rebuild, for one process at a time; undefined while another one holds it, or when no build is due.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  lease(request: LeaseRequest): Promise<RebuildLease | undefined>;

  close(): Promise<void>;
}

export interface StoredFilterStatus {
  /** Undefined before the first look, and for a filter that this process leaves alone. */
  readonly state: BloomFilterState | undefined;
  /** Whether lookups are not sent, since the store did not answer the last ones. */
  readonly isCircuitOpen: boolean;
}

/** Pauses that double while calls follow one another, from the first to the last. In milliseconds. */
export interface DistrustPauses {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** What advice on a filter depends on. */
export interface AdvisedFilter {
  readonly bytes: number;
  readonly hasSource: boolean;
  /** Whether a filter without a source that is found nowhere is made, or taken as it is, without being asked for. */
  readonly isCreatedAutomatically?: boolean;
  /** Longest time from an add to its visible row, in milliseconds. */
  readonly drainMs: number;
  /** For how long an add may wait for readers, in milliseconds; undefined: for none. */
  readonly leaseMs?: number | undefined;
  /** Called when the store could not be asked: there may be more to say. */
  readonly onIncomplete?: (() => void) | undefined;
}

/** Held by one process, renewed automatically until it is released or lost. */
export interface RebuildLease {
  /** Aborts when the lease was lost; every write after that is refused by the store itself. */
  readonly signal: AbortSignal;

  /** Why nothing is to be rebuilt after all, where the store has asked `unless` of the request for each part of the filter. */
  readonly declined?: string | undefined;

  /** The parts that are rebuilt, of a partitioned filter. */
  readonly parts?: readonly number[] | undefined;

  /**
   * Makes an empty filter beside the live one. From the moment this resolves every add, of any process, is recorded in
   * both. An earlier staging of this lease is dropped.
   */
  stage(plan: StagePlan): Promise<Staging>;

  /** @param outcome left out of a build that did not take place, or was stopped before its end */
  release(outcome?: BuildOutcome): Promise<void>;
}

/** What a staged filter is to hold. */
export interface StagePlan {
  /** Distinct ids. */
  readonly capacity: number;
  readonly errorRate: number;
  readonly maxIdBytes: number;
}

export interface Staging {
  /** Distinct ids it takes before a larger one has to be planned; Infinity where the size is not for a rebuild to choose. */
  readonly capacity: number;
  readonly bytes: number;

  /** A filter in this process for what the scan reads: no network for an id. */
  readonly local: LocalFilter;

  /**
   * For how long before the staging was published no add had been acknowledged: such adds need no drain. 0 when the store
   * cannot know.
   */
  readonly quietMs: number;

  /**
   * Divides the filling into passes, so that `local` takes no more than so many bytes. The source is read once in each of them.
   *
   * @returns how many there are. A staging that cannot be divided is filled in one.
   */
  divide?(memoryBytes: number): number;

  /** Begins a pass, from 0 to one less than there are: `local` and `merge` are of its part of the filter until the next one begins. */
  beginPass?(pass: number): void;

  /** Adds all that is in `local` to the staged filter, in bounded steps. */
  merge(signal: AbortSignal): Promise<void>;

  /** Verdicts of the staged filter. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /** Whether a part of a partitioned filter has been given more ids than it is planned for. Staged again, it gets room for them. */
  readonly isOutgrown?: boolean | undefined;

  /** Gives up the parts of a partitioned filter that these ids are in; false when no part is left. */
  giveUpPartsOf?(ids: readonly IdKey[]): boolean;

  /**
   * Puts the staged filter in the place of the live one, at once for all readers and writers.
   *
   * @param ids distinct ids that the build read.
   */
  commit(ids: number): Promise<void>;

  /** Drops the staging; the live generation stays. */
  abort(): Promise<void>;
}

export interface LocalFilter {
  /**
   * True when the id was not there before.
   *
   * @throws {BloomIdError} for an id that the filter cannot hold.
   */
  addKey(id: IdKey): boolean;

  /** As `addKey` for the id of the bytes from `start` to `end`: text in UTF-8, or bytes; where the filter treats both alike. */
  addBytes?(bytes: Uint8Array, start: number, end: number): boolean;

  /** Whether the id that came last is of another pass, and was left out. Left out: there is one pass. */
  readonly isElsewhere?: boolean;

  /**
   * The same filter for many ids, whose bits it sets later. Left out, or undefined: it would gain nothing.
   *
   * @param filters as many are filled in turn, and share the memory for ids that wait. Default 1.
   */
  deferred?(filters?: number): DeferringFilter | undefined;
}

/** Sets the bits of ids later, in an order that is faster: all of them are set when `settleRegion` returns false. */
export interface DeferringFilter extends LocalFilter {
  /** Ids that have turned out to be new since the last call: `addKey` and `addBytes` return false before that is known. */
  takeNew(): number;

  /**
   * As `addBytes` for packed ids from `from` to below `to`; how many it has added, which may be fewer. When it is 0, the next one has to be added by
   * `addBytes`, which says what is wrong with it.
   */
  addRun?(ids: IdRun, from: number, to: number): number;

  /** Ids of the last run that are not of another pass. */
  readonly takenOfRun?: number;

  /** Sets the bits of some ids, in less than a millisecond or two; false when no id waits any more. */
  settleRegion(): boolean;
}
