import type { BloomEventListener, BloomFilterState, Clock } from '../common/index.js';
import type { BlockedFilter, Generation, IdKey } from '../filter/index.js';

/**
 * `absent`: the id is certainly not in the set. `maybe`: it is, or the error rate struck. `unknown`: the filter
 * cannot tell just now, and the look-up has to go through.
 */
export type BloomVerdict = 'absent' | 'maybe' | 'unknown';

/** Where filters live. Made once for an application, closed with it. */
export interface BloomStore {
  /** For people: `memory` or `redis`. */
  readonly kind: string;
  open(options: OpenFilterOptions): BloomFilterStore;
  close(): Promise<void>;
}

export interface OpenFilterOptions {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly clock: Clock;
  /** Whether this process keeps a copy of the filter; undefined: as the store thinks best. */
  readonly replica?: BloomReplicaMode | undefined;
}

/** `verified`: a copy answers "maybe" by itself, and what it has not is asked of the store. */
export type BloomReplicaMode = 'off' | 'verified';

/** One filter in a store. Bulk is the primitive; concurrent calls of one tick may share a round trip. */
export interface BloomFilterStore {
  /** A verdict for each id, in order. Never rejects: what fails is `unknown` and one event. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /** The same for one id, which is the hot path: at once where this process knows the verdict. */
  checkOne(id: IdKey): BloomVerdict | Promise<BloomVerdict>;

  /**
   * Records ids; resolves when every one of them is recorded wherever a verdict may be taken from: the live generation
   * and the staged one. For each id, true when it was not there before.
   *
   * @throws {BloomIdError} for an id over `maxIdBytes`; then none is recorded.
   * @throws {BloomUnavailableError} when the ids could not be recorded.
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
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  distrust(reason: string): Promise<void>;

  /** What in the set-up of the store endangers a filter, each with what to do about it. Never rejects. */
  advise(filter: { bytes: number; hasSource: boolean }): Promise<readonly string[]>;

  /**
   * The right to rebuild, for one process at a time; undefined while another one holds it.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  lease(options: { leaseMs: number }): Promise<RebuildLease | undefined>;

  close(): Promise<void>;
}

export interface FilterDescription {
  readonly state: BloomFilterState;
  /** The live generation; undefined unless `ready`. */
  readonly generation: Generation | undefined;
  /** How often the filter was built. */
  readonly builds: number;
  /** Ids in the live generation: those of the build and those added since; an id met twice may count twice. */
  readonly count: number;
  /** Ids that the last completed build read, also after the filter was lost. */
  readonly builtIds: number;
  readonly capacity: number;
  readonly errorRate: number;
  readonly builtAt: Date | undefined;
  /** Whether a rebuild has published its staging. */
  readonly rebuilding: boolean;
}

/** Held by one process, renewed by itself until it is released or lost. */
export interface RebuildLease {
  /** Aborts when the lease was lost; every write after that is refused by the store itself. */
  readonly signal: AbortSignal;

  /**
   * Makes an empty generation beside the live one. From the moment this resolves every add, of any process, is recorded in
   * both. An earlier staging of this lease is dropped.
   */
  stage(generation: Generation): Promise<Staging>;

  release(): Promise<void>;
}

export interface Staging {
  readonly generation: Generation;

  /**
   * For how long before the staging was published no add had been acknowledged: such adds need no drain. 0 when the store
   * cannot know.
   */
  readonly quietMs: number;

  /** Adds all bits of a local filter of the same generation to the staged one, in bounded steps. */
  merge(filter: BlockedFilter, signal: AbortSignal): Promise<void>;

  /** Verdicts of the staged generation. */
  check(ids: readonly IdKey[]): Promise<BloomVerdict[]>;

  /** Puts the staged generation in the place of the live one, at once for all readers and writers. */
  commit(built: BuiltGeneration): Promise<void>;

  /** Drops the staging; the live generation stays. */
  abort(): Promise<void>;
}

export interface BuiltGeneration {
  /** Distinct ids that the build read. */
  readonly ids: number;
  readonly capacity: number;
  readonly errorRate: number;
}

/** A store whose blocks a process may copy. */
export interface CopyableStore extends BloomStore {
  open(options: OpenFilterOptions & { readonly onBlocks?: BlockListener }): CopyableFilterStore;
}

export interface CopyableFilterStore extends BloomFilterStore {
  /**
   * Blocks of the live generation as they are stored, at most 256 that begin at a multiple of 256. They may be fewer or of
   * another generation: their tags tell.
   *
   * @throws {BloomUnavailableError} when the store cannot be asked.
   */
  readBlocks(first: number, count: number): Promise<Uint8Array>;
}

/** Called with what a check has read. */
export type BlockListener = (read: BlocksRead) => void;

export interface BlocksRead {
  /** The generation that was asked; a block that is not of it has another tag. */
  readonly generation: Generation;
  /** Where each block is. */
  readonly numbers: ArrayLike<number>;
  readonly blocks: readonly Uint8Array[];
}
