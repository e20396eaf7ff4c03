import { BLOCK_BYTES, type FilterFill, type Generation, type IdKey, tooLong } from '../../../filter/index.js';
import type {
  AdvisedFilter,
  BlockListener,
  CopyableDescription,
  CopyableFilter,
  KnownVerdict,
  OpenFilterOptions,
  PartEpochs,
  StagedBlocks,
} from '../../index.js';
import { addCommand, hasOwnBit, negativeCacheMarks, removeCommand } from './add-command.js';
import type { BlockedContext } from './blocked-context.js';
import type { BlockedSnapshot } from './blocked-meta.js';
import { blockedPermissions } from './blocked-permissions.js';
import { BlockedStaging } from './blocked-staging.js';
import type { RedisLeaseServer } from './copies/redis-lease-server.js';
import { markLifeMs, RedisNegativeCache } from './redis-negative-cache.js';
import { asUnavailable, unavailable } from '../meta/unknown-reason.js';
import type { Permission } from '../filter/permissions.js';
import { StoredFilterInRedis } from '../filter/stored-filter-in-redis.js';
import { partsOnOneServer, SEGMENT_DAMAGED } from '../meta/meta.messages.js';
import type { Outdated } from '../meta/unknown-reason.js';
import { BlockReader } from '../staging/block-reader.js';
import { SEGMENT_BLOCKS, type SegmentedGeneration, tagText } from '../staging/segments.js';
import type { StagingContext } from '../staging/staging-base.js';

/** Ids of one call of the script `add`: it holds the server for about a millisecond. */
const IDS_PER_ADD = 256;

export type BlockedFilterOptions = Pick<OpenFilterOptions, 'drainMs' | 'negativeCache' | 'onLoad'> & {
  onBlocks?: BlockListener;
  /** The copy of a process that answers from one. */
  leases?: RedisLeaseServer | undefined;
};

/** A check reads one block of each id, whose tag proves of which generation it is. */
export class BlockedFilterInRedis
  extends StoredFilterInRedis<Generation, BlockedSnapshot>
  implements CopyableFilter
{
  readonly negativeCache: RedisNegativeCache | undefined;
  readonly leases: RedisLeaseServer | undefined;
  readonly epochs: RedisPartEpochs;
  protected readonly damage = SEGMENT_DAMAGED;

  private readonly onLoad: OpenFilterOptions['onLoad'];
  private readonly markLifeMs: number;
  private readonly reader: BlockReader;

  constructor(
    protected override readonly context: BlockedContext,
    { onBlocks, onLoad, drainMs, negativeCache, leases }: BlockedFilterOptions,
  ) {
    super(context);
    this.onLoad = onLoad;
    this.leases = leases;
    this.epochs = new RedisPartEpochs(context);
    this.reader = new BlockReader(context.connection, onBlocks);
    this.markLifeMs = markLifeMs(drainMs);
    this.negativeCache =
      negativeCache && new RedisNegativeCache(context, { ...negativeCache, markLifeMs: this.markLifeMs });
  }

  override async close(): Promise<void> {
    await this.leases?.leave();
    this.context.copyWaits.close();
    await super.close();
  }

  async describe(): Promise<CopyableDescription> {
    const { metadata, part } = this.context;
    // Read with each look, so that a policy that evicts by use keeps it.
    const epoch = part?.index === 0 && part.epoch && this.epochs.ask();
    const [{ description }] = await Promise.all([metadata.reload(), epoch]);
    return description;
  }

  async measureFill(): Promise<FilterFill | undefined> {
    const { live } = await unavailable(this.context.metadata.current());
    return live && unavailable(this.quietReader().measure(live));
  }

  /** Parts that share a server share its memory. */
  override async advise(filter: AdvisedFilter): Promise<readonly string[]> {
    const { part, connection, name } = this.context;
    if (!part) return super.advise(filter);
    const { nodes } = connection;
    const bytes = filter.bytes * Math.ceil(part.of / nodes.masterCount);
    const texts = await super.advise({ ...filter, bytes });
    return part.index === 0 && nodes.isOneServer ? [...texts, partsOnOneServer(name, part.of)] : texts;
  }

  readBlocks(first: number, count: number): Promise<Uint8Array> {
    return this.readOf(this.context.keys.segment, first, count);
  }

  async staged(tag: Generation['tag']): Promise<StagedBlocks | undefined> {
    const { staging } = await unavailable(this.context.metadata.reload());
    if (staging?.generation.tag !== tag) return undefined;
    const readBlocks = (first: number, count: number) => this.readOf(staging.key, first, count);
    return { generation: staging.generation, readBlocks };
  }

  private readOf(key: (segment: number) => string, first: number, count: number): Promise<Uint8Array> {
    const from = (first % SEGMENT_BLOCKS) * BLOCK_BYTES;
    const segment = key(Math.floor(first / SEGMENT_BLOCKS));
    return unavailable(this.context.connection.getPiece(segment, from, from + count * BLOCK_BYTES - 1));
  }

  protected ask(live: SegmentedGeneration, ids: readonly IdKey[]): Promise<KnownVerdict[] | Outdated> {
    return ids.length === 1 ? this.reader.readOne(live, ids[0]!) : this.reader.read(live, ids);
  }

  protected idsPerAdd(): number {
    return IDS_PER_ADD;
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    const { live, staging } = await unavailable(this.context.metadata.current());
    for (const generation of [live, staging]) {
      if (generation && ids.some((id) => generation.layout.isTooLong(id)))
        throw tooLong(generation.generation.maxIdBytes);
    }
  }

  protected record(ids: readonly IdKey[]): Promise<boolean[]> {
    return this.recordBy((snapshot) => this.write(snapshot, ids));
  }

  async remove(ids: readonly IdKey[]): Promise<boolean[]> {
    return this.recordBy(
      (snapshot) => this.clear(snapshot, ids),
      async (snapshot) => snapshot,
    );
  }

  private async clear(snapshot: BlockedSnapshot, ids: readonly IdKey[]): Promise<boolean[] | Outdated> {
    const { keys, blocked } = this.context;
    const command = removeCommand(snapshot, ids);
    const reply = command ? await blocked.remove(keys, command) : { flags: '' };
    if (typeof reply === 'string') return reply === 'LOST' ? 'UNPROVED' : reply;
    let next = 0;
    return ids.map((id) => hasOwnBit(snapshot.live, id) && reply.flags[next++] === '1');
  }

  private async write(snapshot: BlockedSnapshot, ids: readonly IdKey[]): Promise<boolean[] | Outdated> {
    const { keys, blocked } = this.context;
    const { negativeCache } = snapshot;
    const marks = negativeCache && negativeCacheMarks(negativeCache, ids, this.markLifeMs);
    const reply = await blocked.add(keys, { ...addCommand(snapshot, ids, this.leases?.reader), marks });
    // Which generation has lost a segment is read again, as after a check.
    if (typeof reply === 'string') return reply === 'LOST' ? 'UNPROVED' : reply;
    this.reportLoad(snapshot, reply.count);
    if (reply.wait || snapshot.unseenUntil > 0) await this.context.copyWaits.settleAdd(snapshot, reply.wait);
    return ids.map((_, i) => reply.flags[i] !== '0');
  }

  protected stage(context: StagingContext): BlockedStaging {
    return new BlockedStaging(this.context, this.quietReader(), context);
  }

  protected permissions(): Permission[] {
    const { keys, lostLeases } = this.context;
    return blockedPermissions(keys, lostLeases.leaseMs > 0);
  }

  /** Reads sampled and staged blocks, which the listener does not get. */
  private quietReader(): BlockReader {
    return new BlockReader(this.context.connection);
  }

  private reportLoad({ live, description }: BlockedSnapshot, count: number | undefined): void {
    if (!live || count === undefined) return;
    const { capacity } = description;
    this.onLoad?.({ generation: tagText(live.generation), count, capacity });
  }
}

/**
 * The epoch of a filter in Redis, beside the metadata of its first part, and the end of what others have
 * built in a part.
 */
export class RedisPartEpochs implements PartEpochs {
  constructor(private readonly context: BlockedContext) {}

  ask(): Promise<string> {
    return this.replace('', '');
  }

  async replace(before: string, next: string): Promise<string> {
    const { scripts, keys } = this.context;
    try {
      return await scripts.epoch(keys.epoch, before, next);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async endOthers(): Promise<void> {
    await unavailable(this.context.metadata.endAllOthers());
  }
}
