import type { BloomFilterState } from '../common/index.js';
import type { BloomId, BloomScope, IdKey } from '../filter/index.js';
import type { BloomRebuildOptions, BloomRebuildReport } from '../rebuild/index.js';
import type { BloomCopyLease, BloomVerdict, LookupOutcome, SharedNegativeCache } from '../store/index.js';
import type {
  BloomCopyWaits,
  BloomFilterMetrics,
  BloomGuardCounts,
  BloomGuardMode,
  BloomOutsideInfo,
} from './metrics.js';
import type { GuardState } from './guard-state.js';
import type { IdKeys } from './id-keys.js';
import type { LookupCounts } from './filter-counts.js';

/** How the rows of a batch are put into the order of its ids. */
export interface BloomBatchOptions<Row> {
  /**
   * The id of a row, in a spelling that `normalize` maps to that of the id. With it, rows may be missing or
   * come in any order. Default: row `i` is that of id `i`, or null.
   */
  readonly key?: (row: NonNullable<Row>) => BloomId;
  /**
   * The tenant of all ids, for a filter with `scoped: true`. Default: ids and what `key` returns are those of
   * `scopedId`.
   */
  readonly scope?: BloomScope;
}

/**
 * A named set of ids that answers "certainly absent" or "maybe there". A class, so that it can be the type of
 * a decorated parameter; applications never call `new`. A test may inject something else, so compare `name`.
 *
 * @example constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}
 */
export abstract class BloomFilter {
  /** As it was registered. */
  abstract readonly name: string;

  /** `filter.guarding.mode = 'off'` turns the guards of this process off, `'on'` on again. */
  abstract readonly guarding: {
    /** May be set at any time. */
    mode: BloomGuardMode;
    /** What the guards of this process have seen of the filter. */
    counts(): BloomGuardCounts;
  };

  /** Never rejects: when the answer cannot be known it is `unknown`, and an event reports why. */
  abstract check(id: BloomId): Promise<BloomVerdict>;
  /** The same for many ids: a verdict for each, in order. */
  abstract checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]>;

  /** False only when the id is certainly absent. */
  abstract mightContain(id: BloomId): Promise<boolean>;
  /** The same for many ids, in order. */
  abstract mightContainMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Makes a function that loads many rows, such as that of a DataLoader, ask this filter first. It calls
   * `load` with the ids that may exist, in their order, or not at all, and resolves a row or null for each
   * given id.
   *
   * @param load returns a row or null for each id, in their order; with `key`, the rows that exist, in any
   * order.
   * @throws what `load` throws, and a TypeError for another number of rows than ids if there is no `key`.
   *
   * @example
   * new DataLoader(products.guardBatch((skus) => repository.findBySkus(skus), { key: (row) => row.sku }));
   */
  abstract guardBatch<Id extends BloomId, Row>(
    load: (ids: Id[]) => Promise<readonly Row[]>,
    options?: BloomBatchOptions<Row>,
  ): (ids: readonly Id[]) => Promise<(Row | null)[]>;

  /**
   * Records an id; true when it was not there before. Call it before the row is visible to others: in the
   * transaction, before the commit.
   *
   * @throws {BloomIdError} when the value cannot be an id, or is longer than `maxIdBytes`. With
   * `coverage` and without Redis also when other processes may have read past it.
   * @throws {BloomUnavailableError} when the id could not be recorded.
   */
  abstract add(id: BloomId): Promise<boolean>;
  /** The same for many ids, in order: all of them or none. */
  abstract addMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Removes an id once the end of its row is committed. False when it is certainly not there, or has to stay
   * until the next rebuild. One that is removed while a rebuild runs may be "maybe" until the one after it.
   *
   * Layout `exact` (`info().layout`): each integer can be removed that is never given to another row. The
   * removal hurts no other id. Copies in other processes answer "maybe" until the next rebuild.
   *
   * Layout `cuckoo`: an id is removed as often as it was added, once for each call. One that
   * was added more than four times has to stay, and so does any for `drainMs` after a rebuild, which may have
   * missed a row that was deleted meanwhile. Remove only ids that were added, within `drainMs` of the end of
   * their rows: of an id that is not in the filter, the removal may take out another id, and **an id that
   * exists would be answered "absent"**.
   *
   * @throws {BloomIdError} when the value cannot be an id.
   * @throws {BloomConfigError} when the layout of the filter cannot remove.
   * @throws {BloomUnavailableError} when it could not be removed, or it is not known whether it was: do not
   * remove it again then.
   */
  abstract remove(id: BloomId): Promise<boolean>;

  /**
   * Reads all ids from the source into a new generation and replaces the live one with it. One process
   * rebuilds at a time; the others report `skipped`. While this process rebuilds, the call joins that run,
   * unless `join` is false.
   *
   * @throws {BloomConfigError} when the filter has no source.
   * @throws {BloomRebuildError} when no new generation went live; the old one still answers.
   */
  abstract rebuild(options?: BloomRebuildOptions): Promise<BloomRebuildReport>;

  /**
   * Empties a filter that has no source and puts it in service again: for a filter that was lost, and whose
   * ids are no longer needed.
   *
   * @throws {BloomConfigError} when the filter has a source: rebuild it instead.
   */
  abstract reset(): Promise<void>;

  /**
   * Takes a filter on a key of other systems as it stands now: for one that was lost or is suspect, has no
   * source, and that its owners have filled again. Whoever calls it vouches for the key: an id that is not in
   * it is answered "absent". Does nothing while the filter is ready.
   *
   * @throws {BloomConfigError} when nobody else writes to the filter, or it has a source: rebuild it instead.
   * @throws {BloomFormatError} when the key holds something else.
   * @throws {BloomUnavailableError} when there is no such key.
   */
  abstract adopt(): Promise<void>;

  /** @throws {BloomUnavailableError} when the store cannot be asked. */
  abstract info(): Promise<BloomFilterInfo>;
}

/** What an add is for: ids that the application gives, or ids of rows. */
export type AddOrigin = 'application' | 'row';

/** What guards need of a filter. They form the key of an id once, by `keys`, and hand it on. */
export interface GuardableFilter extends BloomFilter {
  readonly guarding: GuardState;

  /** Forms the keys of ids. */
  readonly keys: IdKeys;

  /** Names the live generation as this process knows it; undefined where it does not. */
  readonly generation: string | undefined;

  /** Longest time from the call of `add` to its row being visible to the source, in milliseconds. */
  readonly drainMs: number;

  /** The negative cache that all processes share; undefined unless it is shared. */
  readonly sharedCache: SharedNegativeCache | undefined;

  /** Counts what the store does for the filter in this process. */
  readonly lookups: LookupCounts;

  /** The advice that was given in this process and not withdrawn, in the order in which it was given. */
  readonly advice: Set<string>;

  metrics(): BloomFilterMetrics;

  /** As `check`, with the reason of `unknown`, and without a promise where possible. Never rejects. */
  checkKey(key: IdKey): LookupOutcome | Promise<LookupOutcome>;

  /**
   * Whether the id comes after the mark (`coverage`): its row may appear, so no denial of it is
   * remembered.
   */
  isBeyond(key: IdKey): boolean;

  /**
   * What `addMany` does, for keys of `keys.ofAdded`.
   *
   * @param origin `row`: their rows exist, or they were added before, so that they need not be new.
   * @throws {BloomIdError} when the live generation takes shorter ids only; then none is recorded.
   * @throws {BloomUnavailableError} when the ids could not be recorded.
   */
  addKeys(keys: readonly IdKey[], origin?: AddOrigin): Promise<boolean[]>;

  /**
   * Reports that a guarded method found something for an id that was answered "absent". May add the id and
   * take the filter offline until it is rebuilt. Never rejects.
   */
  reportFalseNegative(report: FalseNegativeReport): Promise<void>;

  reportFailedAdds(report: FailedAddsReport): void;
}

/** A guarded method found something for an id that the filter answered "absent". */
export interface FalseNegativeReport {
  /** As the caller wrote it. */
  readonly id: BloomId;
  readonly key: IdKey;
  /** `ProductRepository.find` */
  readonly method: string;
  /** The type of what it returned, without what is in it. */
  readonly returned: string;
}

/** Ids of a call that failed, and whose rows it has not made, as far as anybody can see. */
export interface FailedAddsReport {
  /** Ids that were new to the filter. */
  readonly ids: number;
  /** The method that failed. */
  readonly method: string;
}

/** The state of a filter, and what it costs. */
export interface BloomFilterInfo {
  /** As it was registered. */
  readonly name: string;
  /** How it stands. */
  readonly state: BloomFilterState;
  /** Where it is: `memory` or `redis`. */
  readonly store: string;
  /** By whose rules its bits are found: `blocked`, `exact`, `scaling`, `go-zero`, … */
  readonly layout: string;
  /**
   * About how many: ids of the last build, and ids added since. An id that was read twice may count twice.
   */
  readonly count: number;
  /** Ids that the live generation holds at its error rate. */
  readonly capacity: number;
  /** The error rate asked for. */
  readonly errorRate: number;
  /**
   * Share of absent ids that pass now, undefined unless `ready`: from the bits that are set in a sample of up
   * to 512 blocks (all blocks of a small filter), or in a part of a string of peers; of `cuckoo` from its
   * fingerprints, of `redisbloom` from the items that the server has counted, of `exact` that of ids beyond
   * its range: no other absent id passes.
   */
  readonly modelledErrorRate: number | undefined;
  /** Share of the bits that are set, in the same sample; undefined unless `ready`, and without such bits. */
  readonly fillRatio: number | undefined;
  /** Bits set for an id (k); undefined unless `ready`. */
  readonly hashCount: number | undefined;
  /** Its size. */
  readonly bytes: number;
  /** When the live generation was built. */
  readonly builtAt: Date | undefined;
  /** How often the filter was built. */
  readonly builds: number;
  /** Whether a rebuild runs, in any process. */
  readonly rebuilding: boolean;
  /** Whether this process answers "absent" from its copy, and why not; only with `replica: 'leased'`. */
  readonly copyLease: BloomCopyLease | undefined;
  /** Adds of this process that waited for processes with a leased copy, and for how long. */
  readonly copyWaits: BloomCopyWaits;
  /** What the guards of this process have seen. */
  readonly observed: BloomGuardCounts;
  /** How far the filter has come with rows that others write; only with `topUp`. */
  readonly outside?: BloomOutsideInfo;
  /**
   * Parts of a partitioned filter. The other numbers are sums and means over them, the state is the worst.
   */
  readonly parts?: readonly BloomPartInfo[];
}

/** One part of a partitioned filter. */
export interface BloomPartInfo {
  /** From 0. */
  readonly part: number;
  /** Undefined when the node of the part does not answer; then `error` says why, and the numbers are 0. */
  readonly state: BloomFilterState | undefined;
  /** Why it does not answer. */
  readonly error?: string;
  /** Ids in it. */
  readonly count: number;
  /** Ids that it is planned for. */
  readonly capacity: number;
  /** Its size. */
  readonly bytes: number;
  /** When it was built. */
  readonly builtAt: Date | undefined;
  /** How often it was built. */
  readonly builds: number;
  /** Whether a rebuild runs. */
  readonly rebuilding: boolean;
}
