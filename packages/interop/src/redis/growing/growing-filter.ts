import {
  anyError,
  BlockReader,
  type KnownVerdict,
  MAX_ATTEMPTS,
  type Outdated,
  type Permission,
  SEGMENT_DAMAGED,
  stackFillRatio,
  type StagingContext,
  StoredFilterInRedis,
  tooLong,
  unavailable,
} from 'nestjs-bloom/internal';
import { BLOCK_BYTES, type IdKey } from 'nestjs-bloom/filter';
import type { FilterDescription, FilterFill, FilterShape, OpenFilterOptions } from 'nestjs-bloom/store';
import { type ScalingOptions, stackErrorRate } from '../../scaling/growing-plan.js';
import type { StoredGeneration } from '../generation/generation-meta.js';
import { addRecords } from './add-records.js';
import type { GrowingContext, GrowingSnapshot } from './growing-context.js';
import { growingPermissions } from './growing-keys.js';
import type { GrowingAddReply } from './growing-scripts.js';
import { GrowingStaging } from './growing-staging.js';
import type { LayerOpener } from './layer-opener.js';
import { capacityOf, originOf, type ResolvedGrowing } from './resolved-growing.js';

/** Blocks that one call of the script `growing-add` looks at: it holds the server for about a millisecond. */
const BLOCKS_PER_ADD = 256;
/** How often an add asks for a further layer before it goes into the full one: about a second. */
const MOST_WAITS = 40;
/** For how long adds go into the full layer then without having asked. */
const OVERFILL_MS = 5000;
/** A further layer is opened when the newest one is so full, so that hardly an add has to wait for it. */
const OPEN_AT = 0.95;

export interface GrowingFilterOptions {
  readonly opener: LayerOpener;
  readonly scaling: ScalingOptions;
  readonly onLoad: OpenFilterOptions['onLoad'];
}

/** A filter that grows by layers: a check reads one block in each of them, an add goes to the newest one. */
export class GrowingFilterInRedis extends StoredFilterInRedis<StoredGeneration, GrowingSnapshot> {
  protected readonly damage = SEGMENT_DAMAGED;

  /** How many there were when it was last looked at. */
  private layers = 1;
  private overfillsUntil = 0;

  constructor(
    protected override readonly context: GrowingContext,
    private readonly options: GrowingFilterOptions,
  ) {
    super(context);
  }

  async describe(): Promise<FilterDescription> {
    const { metadata, growing } = this.context;
    for (let attempt = 1; ; attempt++) {
      const { live, description } = await metadata.reload();
      const ids = live && (await growing.count(live));
      if (live && !ids && attempt < MAX_ATTEMPTS) continue;
      const count = ids?.reduce((sum, inLayer) => sum + inLayer, 0) ?? 0;
      const capacity = live ? capacityOf(live) : description.capacity;
      return { ...description, capacity, count, shape: live && ids && shapeOf(live, ids) };
    }
  }

  async measureFill(): Promise<FilterFill | undefined> {
    const { metadata, connection } = this.context;
    const { live } = await unavailable(metadata.current());
    if (!live) return undefined;
    const reader = new BlockReader(connection);
    const fills = await unavailable(Promise.all(live.layers.map((layer) => reader.measure(layer))));
    const known = fills.filter((fill) => fill !== undefined);
    if (known.length < fills.length) return undefined;
    const blocks = live.layers.map(({ generation }) => generation.blocks);
    const errorRate = anyError(known.map((fill) => fill.errorRate));
    return { errorRate, fillRatio: stackFillRatio(known, blocks) };
  }

  override async close(): Promise<void> {
    await this.options.opener.settle();
    await super.close();
  }

  protected permissions(): Permission[] {
    return growingPermissions(this.context.keys);
  }

  protected stage(context: StagingContext): GrowingStaging {
    return new GrowingStaging(this.context, context, this.options.scaling);
  }

  protected ask(live: ResolvedGrowing, ids: readonly IdKey[]): Promise<KnownVerdict[] | Outdated> {
    return this.context.reader.check(live, ids, 'live');
  }

  protected idsPerAdd(): number {
    return Math.max(1, Math.floor(BLOCKS_PER_ADD / this.layers));
  }

  protected async assertFit(ids: readonly IdKey[]): Promise<void> {
    const { live, staging } = await unavailable(this.context.metadata.current());
    for (const { layout, generation } of [...(live?.layers ?? []), ...(staging?.layers ?? [])]) {
      if (ids.some((id) => layout.isTooLong(id))) throw tooLong(generation.maxIdBytes);
    }
  }

  /**
   * An add takes several steps where the others take one: ids for which the newest layer has no room wait for
   * the next one; when there can be none, it takes them.
   */
  protected async record(ids: readonly IdKey[]): Promise<boolean[]> {
    const { metadata } = this.context;
    const { opener } = this.options;
    const added: boolean[] = ids.map(() => false);
    // The first `done` ids are already recorded in the generations named `recordedIn`.
    let [done, recordedIn] = [0, ''];
    let snapshot = await unavailable(metadata.current());
    for (let attempt = 1, waits = 0; attempt <= MAX_ATTEMPTS;) {
      snapshot = await this.writable(snapshot);
      const live = snapshot.live!;
      this.layers = live.layers.length;
      if (waits === MOST_WAITS) this.overfillsUntil = performance.now() + OVERFILL_MS;
      // A reset in between empties what holds the first ids: they are recorded with the others.
      if (recordedIn !== generationsOf(snapshot)) done = 0;
      recordedIn = generationsOf(snapshot);
      const reply = await this.addSome(live, snapshot.staging, ids.slice(done));
      if (typeof reply === 'string') {
        attempt++;
        snapshot = await unavailable(this.settle(snapshot, reply));
        continue;
      }
      reply.added.forEach((isNew, i) => (added[done + i] ||= isNew));
      done += reply.added.length;
      this.reportLoad(live, reply.inNewest);
      if (reply.inNewest >= OPEN_AT * newestCapacity(live)) opener.start(live);
      if (done === ids.length) return added;
      await opener.open(live);
      waits++;
      snapshot = await unavailable(metadata.reload());
    }
    throw this.keptChanging();
  }

  /** As many of the ids, from the first on, as there is room for. */
  private addSome(
    live: ResolvedGrowing,
    staging: ResolvedGrowing | undefined,
    ids: readonly IdKey[],
  ): Promise<GrowingAddReply | Outdated> {
    const { keys, growing } = this.context;
    const mayOverfill = !this.options.opener.canGrow(live) || performance.now() < this.overfillsUntil;
    const capacity = mayOverfill ? Number.MAX_SAFE_INTEGER : newestCapacity(live);
    const records = addRecords(keys.meta, live, staging, ids);
    return this.send(() => growing.add(live, staging, records, capacity));
  }

  /** The older layers are taken to be full: there is a newer one. */
  private reportLoad(live: ResolvedGrowing, inNewest: number): void {
    const capacity = capacityOf(live);
    const count = capacity - newestCapacity(live) + inNewest;
    this.options.onLoad?.({ generation: originOf(live.generation.token), count, capacity });
  }
}

/** Names the generations that an add writes to, however many layers they have. */
function generationsOf({ live, staging }: GrowingSnapshot): string {
  return [live, staging].map((resolved) => (resolved ? originOf(resolved.generation.token) : '')).join(' ');
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
