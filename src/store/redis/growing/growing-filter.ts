import { BloomUnavailableError } from '../../../common/index.js';
import {
  anyOf,
  BLOCK_BYTES,
  type FilterShape,
  type IdKey,
  type ScalingOptions,
  stackErrorRate,
  tooLong,
} from '../../../filter/index.js';
import {
  type AdvisedFilter,
  type StoredFilter,
  type BloomVerdict,
  type FilterDescription,
  type LeaseRequest,
  type RebuildLease,
  notRecorded,
  type OpenFilterOptions,
} from '../../index.js';
import { asUnavailable, BatchingFilter, unavailable } from '../protocol/batching-filter.js';
import { BlockReader } from '../protocol/segments/block-reader.js';
import { refusedCommands } from '../protocol/command-permissions.js';
import type { GenerationSnapshot } from '../protocol/generation-snapshot.js';
import { verifyOwner } from '../protocol/filter-owner.js';
import { adviseOnServer } from '../protocol/server-advice.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { acquireLease } from '../protocol/lease.js';
import type { RedisLeases } from '../protocol/leases.js';
import { addRecords } from './add-records.js';
import type { LayerOpener } from './layer-opener.js';
import { capacityOf, originOf, type ResolvedGrowing } from './resolved-growing.js';
import { GrowingStaging, type ScalingHost } from './growing-staging.js';
import type { ScalingAddReply } from './growing-scripts.js';
import { triesOfLayers } from './growing-permissions.js';

/** Blocks that one call of the script `growing-add` looks at: it holds the server for about a millisecond. */
const BLOCKS_PER_ADD = 256;
/** An add or a check starts over when the filter changed under it. */
const MAX_ATTEMPTS = 5;
/** How often an add asks for a further layer before it goes into the full one: about a second. */
const MOST_WAITS = 40;
/** For how long adds go into the full layer then without having asked. */
const OVERFILL_MS = 5000;
/** A further layer is opened when the newest one is so full, so that hardly an add has to wait for it. */
const OPEN_AT = 0.95;

export interface ScalingFilterParts extends ScalingHost {
  readonly connection: RedisConnection;
  readonly leases: RedisLeases;
  readonly opener: LayerOpener;
  readonly owner: string | undefined;
  readonly options: ScalingOptions;
  readonly onLoad: OpenFilterOptions['onLoad'];
}

/** A filter that grows by layers: a check reads one block in each of them, an add goes to the newest one. */
export class GrowingFilterInRedis extends BatchingFilter implements StoredFilter {
  /** How many there were when it was last looked at. */
  private layers = 1;
  private overfillsUntil = 0;

  constructor(private readonly parts: ScalingFilterParts) {
    super(parts);
  }

  get generation(): string | undefined {
    const live = this.parts.views.known?.live;
    return live && originOf(live.generation.token);
  }

  async describe(): Promise<FilterDescription> {
    const { views, scaling } = this.parts;
    for (let attempt = 1; ; attempt++) {
      const { live, description } = await views.reload();
      const ids = live && (await scaling.count(live));
      if (live && !ids && attempt < MAX_ATTEMPTS) continue;
      const count = ids?.reduce((sum, inLayer) => sum + inLayer, 0) ?? 0;
      const capacity = live ? capacityOf(live) : description.capacity;
      return { ...description, capacity, count, shape: live && ids && shapeOf(live, ids) };
    }
  }

  verify(): Promise<void> {
    return verifyOwner(this.parts);
  }

  async measureErrorRate(): Promise<number | undefined> {
    const { views, connection, scripts } = this.parts;
    const { live } = await unavailable(views.current());
    const reader = new BlockReader(connection, scripts.segments);
    const rates = await unavailable(Promise.all((live?.layers ?? []).map((layer) => reader.measure(layer))));
    const known = rates.filter((rate) => rate !== undefined);
    return live && known.length === rates.length ? anyOf(known) : undefined;
  }

  async distrust(reason: string): Promise<void> {
    const { views } = this.parts;
    const view = await unavailable(views.reload());
    if (view.live) await unavailable(views.takeOffline(view, 'suspect', reason));
  }

  advise(filter: AdvisedFilter): Promise<readonly string[]> {
    const { connection, keys } = this.parts;
    return adviseOnServer(this.parts, filter, () => refusedCommands(connection, triesOfLayers(keys)));
  }

  async lease(request: LeaseRequest): Promise<RebuildLease | undefined> {
    const { parts } = this;
    return acquireLease(parts, (ticket) => new GrowingStaging(parts, ticket, parts.options), request);
  }

  async close(): Promise<void> {
    await this.parts.opener.settle();
    this.parts.leases.close();
    this.parts.views.forget();
  }

  /** An answer counts unless the server changed meanwhile: another one may have the same generation without some of its ids. */
  protected async read(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const { views, reader } = this.parts;
    let view = await views.current();
    for (let attempt = 1; ; attempt++) {
      if (!view.live) return ids.map(() => 'unknown');
      const reply = await reader.check(view.live, ids, 'live');
      const isOfServer = views.isOfServer(view);
      if (isOfServer && typeof reply === 'object') return reply;
      // The token was compared where the damage was seen: it is this generation's.
      if (isOfServer && reply === 'LOST') await views.takeOffline(view, 'lost', DAMAGED);
      if (attempt === MAX_ATTEMPTS) return ids.map(() => 'unknown');
      view = await views.reload();
    }
  }

  protected idsPerAdd(): number {
    return Math.max(1, Math.floor(BLOCKS_PER_ADD / this.layers));
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    const { live, staged } = await unavailable(this.parts.views.current());
    for (const { layout, generation } of [...(live?.layers ?? []), ...(staged?.layers ?? [])]) {
      if (ids.some((id) => layout.isTooLong(id))) throw tooLong(generation.maxIdBytes);
    }
  }

  /** Ids for which the newest layer has no room wait for the next one; when there can be none, it takes them. */
  protected async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { name, views, opener } = this.parts;
    const added: boolean[] = ids.map(() => false);
    // Of them are in the generations of this name, beginning with the first.
    let [done, recordedIn] = [0, ''];
    let view = await unavailable(views.current());
    for (let attempt = 1, waits = 0; attempt <= MAX_ATTEMPTS;) {
      if (!view.live) view = await unavailable(views.reload());
      if (!view.live) throw notRecorded({ name }, view.description.state);
      this.layers = view.live?.layers.length ?? 1;
      if (waits === MOST_WAITS) this.overfillsUntil = performance.now() + OVERFILL_MS;
      const isLast = view.live !== undefined && !opener.canGrow(view.live);
      const mayOverfill = isLast || performance.now() < this.overfillsUntil;
      // A reset in between empties what holds the first ids: they are recorded with the others.
      if (recordedIn !== generationsOf(view)) done = 0;
      recordedIn = generationsOf(view);
      const reply = await this.send(view, ids.slice(done), mayOverfill);
      if (typeof reply === 'object') {
        reply.added.forEach((isNew, i) => (added[done + i] ||= isNew));
        done += reply.added.length;
        if (view.live) this.tellLoad(view.live, reply.inNewest);
        if (view.live && reply.inNewest >= OPEN_AT * newestCapacity(view.live)) opener.start(view.live);
        if (done === ids.length) return added;
        await opener.open(view.live!);
        waits++;
      } else {
        attempt++;
        if (reply === 'LOST') await unavailable(views.takeOffline(view, 'lost', DAMAGED));
      }
      view = await unavailable(views.reload());
    }
    throw new BloomUnavailableError(`Filter '${name}' kept changing while ids were added.`);
  }

  /** The older layers are taken to be full: there is a newer one. */
  private tellLoad(live: ResolvedGrowing, inNewest: number): void {
    const capacity = capacityOf(live);
    const count = capacity - newestCapacity(live) + inNewest;
    this.parts.onLoad?.({ generation: originOf(live.generation.token), count, capacity });
  }

  private async send(
    view: GenerationSnapshot<ResolvedGrowing>,
    ids: readonly IdKey[],
    mayOverfill: boolean,
  ): Promise<ScalingAddReply | 'STALE' | 'LOST'> {
    const { keys, scaling, views } = this.parts;
    const { live, staged } = view;
    const records = addRecords(keys.meta, live, staged, ids);
    const capacity = mayOverfill || !live ? Number.MAX_SAFE_INTEGER : newestCapacity(live);
    try {
      return await scaling.add(live, staged, records, capacity);
    } catch (error) {
      // The metadata may be what it failed on.
      views.forget();
      throw asUnavailable(error);
    }
  }
}

const DAMAGED = 'A segment is gone or damaged.';

/** Names the generations that an add writes to, however many layers they have. */
function generationsOf({ live, staged }: GenerationSnapshot<ResolvedGrowing>): string {
  return [live, staged].map((resolved) => (resolved ? originOf(resolved.generation.token) : '')).join(' ');
}

function newestCapacity({ settings }: ResolvedGrowing): number {
  return settings.layers.at(-1)!.capacity;
}

function shapeOf({ settings }: ResolvedGrowing, ids: readonly number[]): FilterShape {
  const { layers } = settings;
  return {
    hashCount: layers.at(-1)!.hashCount,
    bytes: layers.reduce((sum, { blocks }) => sum + blocks * BLOCK_BYTES, 0),
    get modelledErrorRate() {
      return stackErrorRate(layers.map((layer, index) => ({ ...layer, ids: ids[index]! })));
    },
  };
}
