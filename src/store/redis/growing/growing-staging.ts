import type { BloomEventListener } from '../../../common/index.js';
import { BLOCK_BYTES, BlockedFilter, type IdKey, type ScalingOptions } from '../../../filter/index.js';
import type { BloomVerdict } from '../../index.js';
import type { GenerationScripts } from '../protocol/generation-scripts.js';
import type { GenerationMetadataCache } from '../protocol/generation-metadata-cache.js';
import type { LeasedStaging, StagingContext } from '../protocol/leased-staging.js';
import type { Refusal } from '../protocol/refusal.js';
import type { ServerScripts } from '../protocol/server-scripts.js';
import { SegmentWriter } from '../protocol/segments/segment-writer.js';
import { commitSwap, assertOk } from '../protocol/swap-steps.js';
import { firstGeneration, originOf, type ResolvedGrowing, segmentKeys } from './resolved-growing.js';
import type { GrowingKeys } from './growing-keys.js';
import type { GrowingReader } from './growing-reader.js';
import { GROWING_LAYOUT, type GrowingScripts } from './growing-scripts.js';

/** What a staging needs of the filter around it. */
export interface ScalingHost {
  readonly name: string;
  readonly emit: BloomEventListener;
  readonly keys: GrowingKeys;
  readonly scripts: ServerScripts;
  readonly companion: GenerationScripts;
  readonly scaling: GrowingScripts;
  readonly reader: GrowingReader;
  readonly views: GenerationMetadataCache<ResolvedGrowing>;
}

/** The first layer of the next generation: of a filter that is made, or emptied. */
export class GrowingStaging implements LeasedStaging {
  /** It grows. */
  readonly capacity = Infinity;
  readonly bytes: number;
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;

  private readonly staged: ResolvedGrowing;
  private readonly writer: SegmentWriter;
  private scanned: BlockedFilter | undefined;
  private runId = '';

  constructor(
    private readonly host: ScalingHost,
    private readonly ticket: StagingContext,
    scaling: ScalingOptions,
  ) {
    const { plan, token } = ticket;
    const { capacity, errorRate, maxIdBytes } = plan;
    this.staged = firstGeneration(host.keys, { token, demand: { capacity, errorRate, scaling }, maxIdBytes });
    const target = this.staged.layers[0]!;
    this.writer = new SegmentWriter({ ...host, ...ticket, scripts: host.scripts.segments, target });
    this.bytes = target.generation.blocks * BLOCK_BYTES;
  }

  get local(): BlockedFilter {
    return (this.scanned ??= new BlockedFilter(this.staged.layers[0]!.generation));
  }

  keysToRenew(): string[] {
    return segmentKeys(this.staged.layers);
  }

  async open(): Promise<void> {
    const { keys, views, companion } = this.host;
    const { lease, signal } = this.ticket;
    this.runId = (await views.reload()).runId;
    await this.ticket.claim(this.writer.mostBytes);
    await this.writer.writeEmpty(signal);
    const { generation } = this.staged;
    const reply = await companion.publish(keys, {
      lease,
      runId: this.runId,
      generation,
      layout: GROWING_LAYOUT,
    });
    views.forget();
    assertOk(reply);
  }

  merge(signal: AbortSignal): Promise<void> {
    return this.writer.merge(this.local.bytes, this.scratch, signal);
  }

  async check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    const reply = await this.host.reader.check(this.staged, ids, 'staged');
    return typeof reply === 'string' ? ids.map(() => 'unknown') : reply;
  }

  async commit(ids: number): Promise<void> {
    const { views } = this.host;
    const before = await commitSwap({
      ...this.host,
      swap: ({ live }) => this.swap(live, ids),
      isLive: ({ live }) => live !== undefined && originOf(live.generation.token) === this.ticket.token,
    });
    await views.remove(segmentKeys(before.live?.layers ?? []));
  }

  async abort(): Promise<void> {
    const { keys, companion, views } = this.host;
    try {
      await companion.withdraw(keys, this.ticket.token);
    } finally {
      views.forget();
      await views.removeStaged([...this.keysToRenew(), this.scratch]);
    }
  }

  private get scratch(): string {
    return this.host.keys.beside(this.ticket.token, 'scratch');
  }

  private swap(before: ResolvedGrowing | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { lease } = this.ticket;
    const builtAt = Date.now();
    return this.host.scaling.swap(this.staged, { lease, runId: this.runId, before, ids, builtAt });
  }
}
