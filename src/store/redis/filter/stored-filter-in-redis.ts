import { BloomIdError, type BloomFilterState, BloomUnavailableError } from '../../../common/index.js';
import type { IdKey } from '../../../filter/index.js';
import {
  type AdvisedFilter,
  type BloomVerdict,
  type DistrustPauses,
  type FilterDescription,
  type LeaseRequest,
  type LookupOutcome,
  NO_RECORDER,
  notRecorded,
  type RebuildLease,
  type StoredFilter,
  type StoredFilterStatus,
  type StoreRecorder,
  verdictOf,
} from '../../index.js';
import { RedisBoard } from '../board/redis-board.js';
import { RedisHighWaterMarks } from '../board/redis-high-water-marks.js';
import type { FilterContext } from '../meta/filter-context.js';
import { OtherOwnerError, verifyStored } from '../meta/filter-owner.js';
import { CircuitOpenError } from '../client/lookups-by-node.js';
import { batched } from '../client/tick-batcher.js';
import { acquireLease } from '../lock/rebuild-lease.js';
import type { RebuildLock } from '../lock/rebuild-lock.js';
import type { MetadataCache } from '../meta/metadata-cache.js';
import type { MetadataSnapshot, OthersGenerations } from '../meta/stored-meta.js';
import { MAX_ATTEMPTS } from '../swap/rebuild-step.js';
import { asUnavailable, isTimeout, type Outdated, reasonOf, unavailable } from '../meta/unknown-reason.js';
import type { Permission } from './permissions.js';
import { keepsChanging, METADATA_GONE, notRecordedInOthers } from '../meta/meta.messages.js';
import { adviseOnServer } from './server-advice.js';
import type { StagingBase, StagingContext } from '../staging/staging-base.js';

/** Ids of one lookup, which has one deadline. */
const IDS_PER_LOOK_UP = 2048;
/** Calls of one bulk add on the way at once: the server works on one while the next is made. */
const ADDS_AT_ONCE = 4;

export interface StoredFilterContext<
  Stored,
  Snapshot extends MetadataSnapshot<Stored>,
> extends FilterContext {
  readonly metadata: MetadataCache<Stored, Snapshot>;
  readonly lock: RebuildLock;
}

/**
 * A filter in Redis: gathers lookups and adds into calls with a deadline and the circuit breaker, finds out
 * what is live, asks or writes it, and starts over when that has changed meanwhile. A kind of filter says how
 * its generations are asked, written and staged.
 */
export abstract class StoredFilterInRedis<
  Stored,
  Snapshot extends MetadataSnapshot<Stored>,
> implements StoredFilter {
  /** Why the filter is taken offline as `lost`. */
  protected abstract readonly damage: string;

  readonly board: RedisBoard;
  readonly highWaterMarks: RedisHighWaterMarks;
  readonly checkOne: (id: IdKey) => Promise<LookupOutcome> = batched(this.lookUp.bind(this));
  private readonly addOne = batched(this.addTogether.bind(this));
  private readonly recorder: StoreRecorder;

  constructor(protected readonly context: StoredFilterContext<Stored, Snapshot>) {
    this.recorder = context.recorder ?? NO_RECORDER;
    this.board = new RedisBoard({ ...context, meta: context.keys.meta });
    this.highWaterMarks = new RedisHighWaterMarks({ ...context, meta: context.keys.meta });
  }

  get generation(): string | undefined {
    return this.context.metadata.generation;
  }

  get status(): StoredFilterStatus {
    const { metadata, connection, keys } = this.context;
    return { state: metadata.reports.lastState, isCircuitOpen: connection.isCircuitOpen(keys.meta) };
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const outcomes = ids.length === 1 ? [await this.checkOne(ids[0]!)] : await this.lookUp(ids);
    return outcomes.map(verdictOf);
  }

  async add(ids: readonly IdKey[]): Promise<boolean[]> {
    if (ids.length !== 1) return this.addTogether(ids);
    try {
      return [await this.addOne(ids[0]!)];
    } catch (error) {
      // One id of the batch cannot be added: it must not fail the others.
      if (error instanceof BloomIdError) return this.addTogether(ids);
      throw error;
    }
  }

  abstract describe(): Promise<FilterDescription>;

  verify(): Promise<void> {
    return verifyStored(this.context);
  }

  async distrust(reason: string, pauses?: DistrustPauses): Promise<boolean> {
    const { metadata, scripts, keys } = this.context;
    const snapshot = await unavailable(metadata.reload());
    if (!snapshot.live || (pauses && !(await scripts.mayDistrust(keys.builds, pauses)))) return false;
    await unavailable(metadata.takeOffline(snapshot, 'suspect', reason));
    return true;
  }

  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return adviseOnServer(this.context, filter, this.permissions());
  }

  async lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    return acquireLease(this.context, (context) => this.stage(context), request);
  }

  async close(): Promise<void> {
    this.context.lock.close();
    this.context.metadata.forget();
  }

  /** What a live generation answers. */
  protected abstract ask(
    live: NonNullable<Snapshot['live']>,
    ids: readonly IdKey[],
  ): Promise<LookupOutcome[] | Outdated>;

  /**
   * Records the ids of one call; for each, true when it was not there before.
   *
   * @throws {BloomIdError} for an id that cannot be added; then none is recorded.
   */
  protected abstract record(ids: readonly IdKey[]): Promise<boolean[]>;

  /** How many ids `record` takes at once: they hold the server for about a millisecond. */
  protected abstract idsPerAdd(): number;

  /**
   * An id that cannot be added must be found before any of its bulk add is recorded.
   *
   * @throws {BloomIdError}
   */
  protected abstract assertFit(ids: readonly IdKey[]): Promise<void>;

  /** An empty generation beside the live one; nothing is written before its `open`. */
  protected abstract stage(context: StagingContext): StagingBase<Stored, Snapshot>;

  /** What its scripts need. */
  protected abstract permissions(): readonly Permission[];

  private async lookUp(ids: readonly IdKey[]): Promise<LookupOutcome[]> {
    if (ids.length === 0) return [];
    if (ids.length > IDS_PER_LOOK_UP) {
      const outcomes: LookupOutcome[] = [];
      for (let at = 0; at < ids.length; at += IDS_PER_LOOK_UP)
        outcomes.push(...(await this.lookUp(ids.slice(at, at + IDS_PER_LOOK_UP))));
      return outcomes;
    }
    const { connection, emit, name, keys } = this.context;
    const since = performance.now();
    let outcomes: LookupOutcome[];
    try {
      const lookups = connection.nodes.of(keys.meta);
      if (lookups.isCircuitOpen) lookups.admit();
      outcomes = await lookups.settle(this.read(ids));
    } catch (error) {
      if (!(error instanceof CircuitOpenError))
        emit({ type: 'store-error', filter: name, operation: 'check', error });
      const reason = reasonOf(error);
      outcomes = ids.map(() => reason);
    }
    this.recorder.recordLookups(outcomes, performance.now() - since);
    return outcomes;
  }

  private async addTogether(ids: readonly IdKey[]): Promise<boolean[]> {
    const idsPerAdd = this.idsPerAdd();
    if (ids.length > idsPerAdd) await this.assertFit(ids);
    const results: boolean[] = [];
    for (let at = 0; at < ids.length;) {
      const calls: Promise<boolean[]>[] = [];
      for (; at < ids.length && calls.length < ADDS_AT_ONCE; at += idsPerAdd) {
        calls.push(this.recordSome(ids.slice(at, at + idsPerAdd)));
      }
      for (const added of await Promise.all(calls)) results.push(...added);
    }
    return results;
  }

  /** A call counts that was answered, or took too long. */
  private async recordSome(ids: readonly IdKey[]): Promise<boolean[]> {
    const since = performance.now();
    try {
      const added = await this.record(ids);
      this.recorder.recordAdd(ids.length, performance.now() - since);
      return added;
    } catch (error) {
      if (isTimeout(error)) this.recorder.recordAdd(ids.length, performance.now() - since);
      throw error;
    }
  }

  /** An answer counts unless the server changed: another one may lack ids of the same generation. */
  private async read(ids: readonly IdKey[]): Promise<LookupOutcome[]> {
    const { metadata } = this.context;
    let reason: LookupOutcome;
    try {
      let snapshot = await metadata.current();
      for (let attempt = 1; attempt <= MAX_ATTEMPTS && snapshot.live; attempt++) {
        const asked = await this.ask(snapshot.live, ids);
        const reply = metadata.isOfServer(snapshot) ? asked : 'STALE';
        if (typeof reply === 'object') return reply;
        snapshot = await this.settle(snapshot, reply);
      }
      const { state } = snapshot.description;
      reason = snapshot.live || state === 'ready' ? 'changing' : state;
    } catch (error) {
      // A filter of another application is no fault of the server's.
      if (!(error instanceof OtherOwnerError)) throw error;
      reason = 'other-owner';
    }
    return ids.map(() => reason);
  }

  /**
   * @param write records ids in what is live and staged; for each, true when it was not there before.
   * @param prepare makes sure that ids may be written to it.
   */
  protected async recordBy(
    write: (snapshot: Snapshot) => Promise<boolean[] | Outdated>,
    prepare = (snapshot: Snapshot) => this.writable(snapshot),
  ): Promise<boolean[]> {
    let snapshot = await unavailable(this.context.metadata.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const writable = await prepare(snapshot);
      const reply = await this.send(() => write(writable));
      if (typeof reply === 'object') return reply;
      snapshot = await unavailable(this.settle(writable, reply));
    }
    throw this.keptChanging();
  }

  /** @throws {BloomUnavailableError} when no generation is live and no rebuild would ever find the id. */
  protected async writable(snapshot: Snapshot): Promise<Snapshot> {
    const { metadata, hasSource } = this.context;
    let next = snapshot.live || hasSource ? snapshot : await unavailable(metadata.reload());
    for (let attempt = 1; next.others; attempt++) {
      if (attempt > MAX_ATTEMPTS) throw this.keptChanging();
      this.assertMayEnd(next.others);
      next = await unavailable(metadata.endOthers(next));
    }
    if (!next.live && !hasSource) throw this.notReady(next.description.state);
    return next;
  }

  /** @throws {BloomUnavailableError} where no rebuild would bring back what this process cannot use. */
  private assertMayEnd({ reason }: OthersGenerations): void {
    const { name, hasSource } = this.context;
    if (reason !== undefined && !hasSource)
      throw new BloomUnavailableError(notRecordedInOthers(name, reason));
  }

  protected async send<Reply>(work: () => Promise<Reply>): Promise<Reply> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof BloomIdError) throw error;
      // The metadata may be what it failed on.
      this.context.metadata.forget();
      throw asUnavailable(error);
    }
  }

  /** Takes the filter offline if it is damaged; returns what is known of it now. */
  protected async settle(before: Snapshot, outdated: Outdated): Promise<Snapshot> {
    const { metadata } = this.context;
    // The token was compared where the damage was seen: it is this generation's.
    if (outdated === 'LOST') await metadata.takeOffline(before, 'lost', this.damage);
    const now = await metadata.reload();
    if (outdated === 'UNPROVED' && now.server === before.server && metadata.isSameGeneration(before, now)) {
      await metadata.takeOffline(now, 'lost', this.damage);
    } else if (outdated === 'NOMETA' && !now.stored) {
      await metadata.takeOffline(now, 'unbuilt', METADATA_GONE);
    } else {
      return now;
    }
    return metadata.reload();
  }

  protected keptChanging(): BloomUnavailableError {
    return new BloomUnavailableError(keepsChanging(this.context.name, 'an add'));
  }

  /** Nothing was recorded, since the filter has no source. */
  protected notReady(state: BloomFilterState): BloomUnavailableError {
    return notRecorded({ name: this.context.name }, state);
  }
}
