import { BloomUnavailableError } from '../../../common/index.js';
import { BLOCK_BYTES, type IdKey, tooLong } from '../../../filter/index.js';
import {
  type AdvisedFilter,
  type BlockListener,
  type BloomVerdict,
  type CopyableDescription,
  type CopyableFilter,
  type OpenFilterOptions,
  type LeaseRequest,
  type RebuildLease,
  notRecorded,
} from '../../index.js';
import { addCommand, denialMarks } from './add-command.js';
import { asUnavailable, BatchingFilter, unavailable } from '../protocol/batching-filter.js';
import { BlockReader } from '../protocol/segments/block-reader.js';
import type { BlockedSnapshot } from './blocked-snapshot.js';
import { verifyOwner } from '../protocol/filter-owner.js';
import { adviseOnServer } from '../protocol/server-advice.js';
import { markLifeMs, RedisNegativeCache } from './negative-cache/redis-negative-cache.js';
import type { BlockedContext } from './blocked-context.js';
import { acquireLease } from '../protocol/lease.js';
import { RedisLeases } from '../protocol/leases.js';
import type { AddReply } from './blocked-scripts.js';
import { RedisStaging } from './blocked-staging.js';
import { SEGMENT_BLOCKS, tagText } from '../protocol/segments/segments.js';

/** Ids of one call of the script `add`: it holds the server for about a millisecond. */
const IDS_PER_ADD = 256;
/** An add or a check starts over when the filter changed under it; a filter changes at most a few times a second. */
const MAX_ATTEMPTS = 5;

export type BlockedFilterOptions = Pick<OpenFilterOptions, 'drainMs' | 'denials' | 'onLoad'> & {
  onBlocks?: BlockListener;
};

export class BlockedFilterInRedis extends BatchingFilter implements CopyableFilter {
  readonly denials: RedisNegativeCache | undefined;

  private readonly onLoad: OpenFilterOptions['onLoad'];
  private readonly markLifeMs: number;
  private readonly reader: BlockReader;
  private readonly leases: RedisLeases;

  constructor(
    private readonly parts: BlockedContext,
    options: BlockedFilterOptions,
  ) {
    super(parts);
    const { onBlocks, drainMs, denials } = options;
    this.onLoad = options.onLoad;
    this.reader = new BlockReader(parts.connection, parts.scripts.segments, onBlocks);
    this.leases = new RedisLeases(parts);
    this.markLifeMs = markLifeMs(drainMs);
    this.denials = denials && new RedisNegativeCache(parts, { ...denials, markLifeMs: this.markLifeMs });
  }

  get generation(): string | undefined {
    const live = this.parts.views.known?.live;
    return live && tagText(live.generation);
  }

  async describe(): Promise<CopyableDescription> {
    return (await this.parts.views.reload()).description;
  }

  verify(): Promise<void> {
    return verifyOwner(this.parts);
  }

  /** Its reader tells nobody of the blocks that it samples. */
  async measureErrorRate(): Promise<number | undefined> {
    const { views, connection, scripts } = this.parts;
    const { live } = await unavailable(views.current());
    return live && unavailable(new BlockReader(connection, scripts.segments).measure(live));
  }

  async distrust(reason: string): Promise<void> {
    const { views } = this.parts;
    const view = await unavailable(views.reload());
    if (view.live) await unavailable(views.takeOffline(view, 'suspect', reason));
  }

  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    return adviseOnServer(this.parts, filter);
  }

  async lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    const { parts, leases } = this;
    // Its reader reads staged generations: they are not what checks are told of.
    const reader = new BlockReader(parts.connection, parts.scripts.segments);
    return acquireLease({ ...parts, leases }, (ticket) => new RedisStaging(parts, reader, ticket), request);
  }

  readBlocks(first: number, count: number): Promise<Uint8Array> {
    const { keys, connection } = this.parts;
    const from = (first % SEGMENT_BLOCKS) * BLOCK_BYTES;
    const key = keys.segment(Math.floor(first / SEGMENT_BLOCKS));
    return unavailable(connection.getPiece(key, from, from + count * BLOCK_BYTES - 1));
  }

  async close(): Promise<void> {
    this.leases.close();
    this.parts.views.forget();
  }

  /**
   * Blocks whose tag is that of the view's generation are an answer of this very generation, unless the server changed
   * meanwhile: another one may have the same generation without some of its ids.
   */
  protected async read(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { views } = this.parts;
    let view = await views.current();
    for (let attempt = 1; ; attempt++) {
      if (!view.live) return ids.map(() => 'unknown');
      const verdicts = await this.reader.read(view.live, ids);
      const sameServer = views.isOfServer(view);
      if (sameServer && !verdicts.includes('unknown')) return verdicts;
      const next = await views.reload();
      const sameGeneration = next.live?.generation.tag === view.live.generation.tag;
      if (sameServer && sameGeneration && next.server === view.server) {
        await views.takeOffline(next, 'lost', 'A segment is gone or damaged.');
        return verdicts;
      }
      if (attempt === MAX_ATTEMPTS) return ids.map(() => 'unknown');
      view = next;
    }
  }

  protected idsPerAdd(): number {
    return IDS_PER_ADD;
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    const { live, staged } = await unavailable(this.parts.views.current());
    for (const generation of [live, staged]) {
      if (generation && ids.some((id) => generation.layout.isTooLong(id)))
        throw tooLong(generation.generation.maxIdBytes);
    }
  }

  protected async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { name, views, hasSource } = this.parts;
    let view = await unavailable(views.current());
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      if (!view.live && !hasSource) {
        view = await unavailable(views.reload());
        if (!view.live) throw notRecorded(this.parts, view.description.state);
      }
      const reply = await this.send(view, ids);
      if (typeof reply === 'object') {
        this.tellLoad(view, reply.count);
        return ids.map((_, i) => reply.flags[i] !== '0');
      }
      const before = view;
      view = await unavailable(views.reload());
      if (reply === 'NOMETA' && !view.stored) {
        await unavailable(views.takeOffline(view, 'unbuilt', 'The metadata are gone.'));
      } else if (reply === 'LOST' && view.live && tagOf(view) === tagOf(before)) {
        await unavailable(views.takeOffline(view, 'lost', 'A segment is gone or damaged.'));
      } else continue;
      view = await unavailable(views.reload());
    }
    throw new BloomUnavailableError(`Filter '${name}' kept changing while ids were added.`);
  }

  private tellLoad({ live, description }: BlockedSnapshot, count: number | undefined): void {
    if (!live || count === undefined) return;
    const { capacity } = description;
    this.onLoad?.({ generation: tagText(live.generation), count, capacity });
  }

  private async send(view: BlockedSnapshot, ids: readonly IdKey[]): Promise<AddReply> {
    const { keys, blocked, views } = this.parts;
    const marks = view.denials && denialMarks(view.denials, ids, this.markLifeMs);
    const command = { ...addCommand(view.live, view.staged, ids), marks };
    try {
      return await blocked.add(keys, command);
    } catch (error) {
      // The metadata may be what it failed on.
      views.forget();
      throw asUnavailable(error);
    }
  }
}

function tagOf(view: BlockedSnapshot): number | undefined {
  return view.live?.generation.tag;
}
