import { BloomIdError, type BloomFilterState, BloomUnavailableError } from '../../../common/index.js';
import type { IdKey } from '../../../filter/index.js';
import {
  type AdvisedFilter,
  type DistrustPauses,
  type FilterDescription,
  type LeaseRequest,
  type LookupOutcome,
  notRecorded,
  type RebuildLease,
  type StoredFilter,
  type StoredFilterStatus,
} from '../../index.js';
import { RedisBoard } from '../board/redis-board.js';
import { RedisHighWaterMarks } from '../board/redis-high-water-marks.js';
import { asUnavailable, BatchingFilter, unavailable } from './batching-filter.js';
import type { FilterContext } from '../meta/filter-context.js';
import { OtherOwnerError, verifyStored } from '../meta/filter-owner.js';
import { acquireLease } from '../lock/rebuild-lease.js';
import type { RebuildLock } from '../lock/rebuild-lock.js';
import type { MetadataCache } from '../meta/metadata-cache.js';
import type { MetadataSnapshot, OthersGenerations } from '../meta/stored-meta.js';
import { MAX_ATTEMPTS } from '../swap/rebuild-step.js';
import type { Outdated } from '../meta/unknown-reason.js';
import type { Permission } from './permissions.js';
import { keepsChanging, METADATA_GONE, notRecordedInOthers } from '../meta/meta.messages.js';
import { adviseOnServer } from './server-advice.js';
import type { StagingBase, StagingContext } from '../staging/staging-base.js';

export interface StoredFilterContext<
  Stored,
  Snapshot extends MetadataSnapshot<Stored>,
> extends FilterContext {
  readonly metadata: MetadataCache<Stored, Snapshot>;
  readonly lock: RebuildLock;
}

/**
 * A filter in Redis: finds out what is live, asks or writes it, and starts over when that has changed
 * meanwhile. A kind of filter says how its generations are asked, written and staged.
 */
export abstract class StoredFilterInRedis<Stored, Snapshot extends MetadataSnapshot<Stored>>
  extends BatchingFilter
  implements StoredFilter
{
  /** Why the filter is taken offline as `lost`. */
  protected abstract readonly damage: string;

  readonly board: RedisBoard;
  readonly highWaterMarks: RedisHighWaterMarks;

  constructor(protected readonly context: StoredFilterContext<Stored, Snapshot>) {
    super(context);
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

  /** An empty generation beside the live one; nothing is written before its `open`. */
  protected abstract stage(context: StagingContext): StagingBase<Stored, Snapshot>;

  /** What its scripts need. */
  protected abstract permissions(): readonly Permission[];

  /** An answer counts unless the server changed: another one may lack ids of the same generation. */
  protected async read(ids: readonly IdKey[]): Promise<LookupOutcome[]> {
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

  /** @param write records ids in what is live and staged; for each, true when it was not there before. */
  protected async recordBy(write: (snapshot: Snapshot) => Promise<boolean[] | Outdated>): Promise<boolean[]> {
    let snapshot = await unavailable(this.context.metadata.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const writable = await this.writable(snapshot);
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
