import type { BloomFilterState } from '../common/index.js';
import type { BloomId, IdKey } from '../filter/index.js';
import type { BloomRebuildOptions, BloomRebuildReport } from '../rebuild/index.js';
import type { BloomCopyLease, BloomVerdict, LookupOutcome, SharedNegativeCache } from '../store/index.js';
import type { BloomCopyWaits, BloomFilterMetrics, BloomGuardCounts, BloomGuardMode } from './metrics.js';
import type { GuardState } from './guard-state.js';
import type { IdKeys } from './id-keys.js';
import type { LookupCounts } from './filter-counts.js';
import type { BloomOutsideInfo } from './freshness/freshness-info.js';
import type { FalseNegativeReport } from './false-negatives.js';

/** How the rows of a batch are put into the order of its ids. */
export interface BloomBatchOptions<Row> {
  /**
   * The id of a row, in a spelling that `normalize` of the filter maps to that of the id. With it, rows may come in any order, and some may be missing. Default: row
   * `i` is that of id `i`, or null.
   */
  readonly key?: (row: NonNullable<Row>) => BloomId;
}

/**
 * A named set of ids that answers "certainly absent" or "maybe there". A class, so that a decorated constructor may name it as the type of
 * a parameter; no application makes one with `new`. The filters of this package are instances of it. What a test puts in the place of one
 * need not be, so ask for `name` and not for the class.
 *
 * @example constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}
 */
export abstract class BloomFilter {
  abstract readonly name: string;

  /** How guards use the filter in this process: `filter.guarding.mode = 'off'` turns them off, `'on'` on again. */
  abstract readonly guarding: {
    /** May be set at any time. */
    mode: BloomGuardMode;
    /** What the guards of this process have seen of the filter. */
    counts(): BloomGuardCounts;
  };

  /** Never rejects: when the answer cannot be known it is `unknown`, and an event reports why. */
  abstract check(id: BloomId): Promise<BloomVerdict>;
  abstract checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]>;

  /** False only when the id is certainly absent. */
  abstract mightContain(id: BloomId): Promise<boolean>;
  abstract mightContainMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Makes a function that loads many rows, such as the batch function of a DataLoader, ask this filter first. It calls `load` with the ids that may exist, in their
   * order, or not at all, and resolves one element for each id that it was given, in their order: null for an id without a row.
   *
   * @param load returns a row or null for each id, in their order; with `key`, rows in any order, and only those that exist.
   * @throws in the function: what `load` throws, and a TypeError when it returns another number of rows than it got ids and there is no `key`.
   *
   * @example
   * new DataLoader(products.guardBatch((skus) => repository.findBySkus(skus), { key: (row) => row.sku }));
   */
  abstract guardBatch<Id extends BloomId, Row>(
    load: (ids: Id[]) => Promise<readonly Row[]>,
    options?: BloomBatchOptions<Row>,
  ): (ids: readonly Id[]) => Promise<(Row | null)[]>;

  /**
   * Records an id; true when it was not there before. Call it before the row is visible to others: in the transaction, before
   * the commit.
   *
   * @throws {BloomIdError} when the value cannot be an id, or is longer than `maxIdBytes`.
   * @throws {BloomUnavailableError} when the id could not be recorded.
   */
  abstract add(id: BloomId): Promise<boolean>;
  abstract addMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Removes an id from a filter of layout `cuckoo`, as soon as its row is gone: as often as it was added, once for each call. False when
   * it is certainly not there, or has to stay until the next rebuild: an id that was added more than four times does, and so does
   * any for `drainMs` after a rebuild, which may have missed a row that was deleted meanwhile.
   *
   * Remove only ids that were added, within `drainMs` of their rows' end: of an id that is not in the filter,
   * the removal may take out another id, and **an id that exists would be answered "absent"**. While a rebuild runs, a removed id may be
   * answered "maybe" until the one after it.
   *
   * @throws {BloomIdError} when the value cannot be an id.
   * @throws {BloomConfigError} when the layout of the filter cannot remove.
   * @throws {BloomUnavailableError} when it could not be removed, or it is not known whether it was: do not remove it again then.
   */
  abstract remove(id: BloomId): Promise<boolean>;

  /**
   * Reads all ids from the source into a new generation and replaces the live one with it. One process rebuilds at a
   * time; the others report `skipped`. While this process rebuilds, the call joins that run, unless `join` is false.
   *
   * @throws {BloomConfigError} when the filter has no source.
   * @throws {BloomRebuildError} when no new generation went live; the old one still answers.
   */
  abstract rebuild(options?: BloomRebuildOptions): Promise<BloomRebuildReport>;

  /**
   * Empties a filter that has no source and puts it in service again: for a filter that was lost, and whose ids are no longer
   * needed.
   *
   * @throws {BloomConfigError} when the filter has a source: rebuild it instead.
   */
  abstract reset(): Promise<void>;

  /**
   * Takes a filter on a key of other systems as it stands now: for one that was lost or is suspect, has no source, and that its
   * owners have filled again. Whoever calls it vouches for the key: an id that is not in it is answered "absent". Does nothing
   * while the filter is ready.
   *
   * @throws {BloomConfigError} when nobody else writes to the filter, or it has a source: rebuild it instead.
   * @throws {BloomFormatError} when the key holds something else.
   * @throws {BloomUnavailableError} when there is no such key.
   */
  abstract adopt(): Promise<void>;

  /** @throws {BloomUnavailableError} when the store cannot be asked. */
  abstract info(): Promise<BloomFilterInfo>;
}

/**
 * What guards need of a filter, beyond what an application needs. They form the key of an id once, by `keys`, and hand it to every method
 * that they call.
 */
export interface GuardableFilter extends BloomFilter {
  readonly guarding: GuardState;

  /** Forms the keys of ids. */
  readonly keys: IdKeys;

  /** Names the live generation as this process knows it now, without asking; undefined where it does not know. */
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

  /** What `check` gives, with the reason where it is `unknown`, and without a promise where this process knows it. Never rejects. */
  checkKey(key: IdKey): LookupOutcome | Promise<LookupOutcome>;

  /**
   * Whether the id comes after all those of which it is known that they would be in the filter (`topUp.ordered`): its row may become visible at any time, so a
   * denial of it is not remembered.
   */
  isBeyond(key: IdKey): boolean;

  /**
   * What `addMany` does, for keys that `keys.fitting` has formed.
   *
   * @throws {BloomIdError} when the live generation takes shorter ids only; then none is recorded.
   * @throws {BloomUnavailableError} when the ids could not be recorded.
   */
  addKeys(keys: readonly IdKey[]): Promise<boolean[]>;

  /**
   * Reports that an id was answered "absent" and its guarded method found something. May record the id and take the filter out of
   * service until it is rebuilt. Does nothing when the id has been added in the meantime. Never rejects.
   */
  reportFalseNegative(report: FalseNegativeReport): Promise<void>;

  /** Counts ids that were added for a call that then failed. */
  reportFailedAdds(report: FailedAddsReport): void;
}

/** Ids that a call has added, and whose rows it has not made, as far as anybody can see. */
export interface FailedAddsReport {
  /** How many of them were new to the filter. */
  readonly ids: number;
  /** The method that failed. */
  readonly method: string;
}

/** The state of a filter, and what it costs. */
export interface BloomFilterInfo {
  readonly name: string;
  readonly state: BloomFilterState;
  readonly store: string;
  /** By whose rules its bits are found: `blocked`, `scaling`, `go-zero`, … */
  readonly layout: string;
  /**
   * About how many: ids of the last build and ids added since. An id that is met twice may count twice; an id that passes already does not count.
   */
  readonly count: number;
  /** Ids that the live generation holds at its error rate. */
  readonly capacity: number;
  /** The error rate asked for. */
  readonly errorRate: number;
  /**
   * Share of absent ids that pass now, undefined unless `ready`: from the bits that are set in a sample of up to 512 blocks (all blocks of a small filter),
   * or in a part of a string of peers; of `cuckoo` from its fingerprints, of `redisbloom` from the items that the server has counted.
   */
  readonly modelledErrorRate: number | undefined;
  /** Share of the bits that are set, in the same sample; undefined unless `ready`, and of the layouts `cuckoo` and `redisbloom`. */
  readonly fillRatio: number | undefined;
  /** Bits set for an id (k); undefined unless `ready`. */
  readonly hashCount: number | undefined;
  readonly bytes: number;
  readonly builtAt: Date | undefined;
  /** How often the filter was built. */
  readonly builds: number;
  readonly rebuilding: boolean;
  /** Whether this process answers "absent" from its copy, and why not; undefined without `replica: 'leased'`, and in memory. */
  readonly copyLease: BloomCopyLease | undefined;
  /** Adds of this process that waited for processes with a leased copy, and for how long. */
  readonly copyWaits: BloomCopyWaits;
  /** What the guards of this process have seen. */
  readonly observed: BloomGuardCounts;
  /** How far the filter has come with rows that others write; only with `topUp`. */
  readonly outside?: BloomOutsideInfo;
  /** Of a filter with the option `partitions`: its parts. The other numbers are sums and means over them, the state is that of the worst, `builtAt` is that of the oldest. */
  readonly parts?: readonly BloomPartInfo[];
}

/** One part of a partitioned filter. */
export interface BloomPartInfo {
  /** From 0. */
  readonly part: number;
  /** Undefined when the node of the part does not answer; then `error` says why, and the numbers are 0. */
  readonly state: BloomFilterState | undefined;
  readonly error?: string;
  readonly count: number;
  readonly capacity: number;
  readonly bytes: number;
  readonly builtAt: Date | undefined;
  readonly builds: number;
  readonly rebuilding: boolean;
}
