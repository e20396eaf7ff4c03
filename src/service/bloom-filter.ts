import type { BloomFilterState } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomRebuildOptions, BloomRebuildReport } from '../rebuild/index.js';
import type { BloomVerdict } from '../store/index.js';
import type { BloomGuardCounts, Guarding } from './guarding.js';

/** A named set of ids that answers "certainly absent" or "maybe there". */
export interface BloomFilter {
  readonly name: string;

  /** How guards use the filter in this process: `filter.guarding.mode = 'off'` turns them off, `'on'` on again. */
  readonly guarding: Pick<Guarding, 'mode' | 'counts'>;

  /** Never rejects: what cannot be known is `unknown`, and told as an event. */
  check(id: BloomId): Promise<BloomVerdict>;
  checkMany(ids: readonly BloomId[]): Promise<BloomVerdict[]>;

  /** False only when the id is certainly absent. */
  mightContain(id: BloomId): Promise<boolean>;
  mightContainMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Records an id; true when it was not there before. Call it before the row is visible to others: in the transaction, before
   * the commit.
   *
   * @throws {BloomIdError} when the value is no id, or is longer than `maxIdBytes`.
   * @throws {BloomUnavailableError} when the id could not be recorded.
   */
  add(id: BloomId): Promise<boolean>;
  addMany(ids: readonly BloomId[]): Promise<boolean[]>;

  /**
   * Reads all ids from the source into a new generation and puts it in the place of the live one. One process rebuilds at a
   * time; the others report `skipped`.
   *
   * @throws {BloomConfigError} when the filter has no source.
   * @throws {BloomRebuildError} when no new generation went live; the old one still answers.
   */
  rebuild(options?: BloomRebuildOptions): Promise<BloomRebuildReport>;

  /**
   * Empties a filter that has no source and puts it in service again: for a filter that was lost, and whose ids need not be
   * known any more.
   *
   * @throws {BloomConfigError} when the filter has a source: rebuild it instead.
   */
  reset(): Promise<void>;

  /** @throws {BloomUnavailableError} when the store cannot be asked. */
  info(): Promise<BloomFilterInfo>;
}

/** What guards need of a filter, beyond what an application needs. */
export interface GuardableFilter extends BloomFilter {
  readonly guarding: Guarding;

  /**
   * One text for all spellings of an id.
   *
   * @throws {BloomIdError} when it is no id.
   */
  keyText(id: unknown): string;

  /**
   * Told that an id was answered "absent" and exists: records the id and takes the filter out of service, until it is rebuilt.
   * Does nothing when the id has been added in the meantime. Never rejects.
   */
  reportWrongAbsent(id: BloomId): Promise<void>;
}

export interface BloomFilterInfo {
  readonly name: string;
  readonly state: BloomFilterState;
  readonly store: string;
  readonly layout: 'blocked';
  /** Ids added since the last build, and those of the build; an id met twice may count twice. */
  readonly count: number;
  /** Ids that the live generation holds at its error rate. */
  readonly capacity: number;
  /** The error rate asked for. */
  readonly errorRate: number;
  /** What the model gives for the present count; undefined unless `ready`. */
  readonly modelledErrorRate: number | undefined;
  /** Bits set for an id (k); undefined unless `ready`. */
  readonly hashCount: number | undefined;
  readonly bytes: number;
  readonly builtAt: Date | undefined;
  /** How often the filter was built. */
  readonly builds: number;
  readonly rebuilding: boolean;
  /** What the guards of this process have seen. */
  readonly observed: BloomGuardCounts;
}
