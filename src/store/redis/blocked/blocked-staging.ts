import {
  BLOCK_BYTES,
  BlockedFilter,
  createGeneration,
  type Generation,
  type IdKey,
  planFilter,
} from '../../../filter/index.js';
import type { BloomVerdict } from '../../index.js';
import type { BlockReader } from '../protocol/segments/block-reader.js';
import type { BlockedSnapshot } from './blocked-snapshot.js';
import type { LeasedStaging, StagingContext } from '../protocol/leased-staging.js';
import type { BlockedContext } from './blocked-context.js';
import type { Refusal } from '../protocol/refusal.js';
import { SegmentWriter } from '../protocol/segments/segment-writer.js';
import { type SegmentedGeneration, segmentedGeneration } from '../protocol/segments/segments.js';
import { commitSwap, assertOk } from '../protocol/swap-steps.js';

/** How often publishing starts over when the metadata vanish. */
const MAX_ATTEMPTS = 5;

export class RedisStaging implements LeasedStaging {
  readonly capacity: number;
  readonly bytes: number;
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;

  private readonly generation: Generation;
  private scanned: BlockedFilter | undefined;
  private readonly staged: SegmentedGeneration;
  private readonly writer: SegmentWriter;
  private runId = '';

  constructor(
    private readonly parts: BlockedContext,
    private readonly reader: BlockReader,
    private readonly options: StagingContext,
  ) {
    const { plan, token } = options;
    this.generation = createGeneration(planFilter(plan), plan.maxIdBytes);
    this.staged = segmentedGeneration(this.generation, (index) => parts.keys.staged(token, index));
    this.capacity = plan.capacity;
    this.bytes = this.generation.blocks * BLOCK_BYTES;
    this.writer = new SegmentWriter({
      ...parts,
      ...options,
      scripts: parts.scripts.segments,
      target: this.staged,
    });
  }

  /** Made when the scan begins: the drain before it needs no memory. */
  get local(): BlockedFilter {
    return (this.scanned ??= new BlockedFilter(this.generation));
  }

  keysToRenew(): string[] {
    return Array.from({ length: this.staged.segments }, (_, index) => this.staged.key(index));
  }

  /** Writes the empty segments, then makes them known to every process that adds. */
  async open(): Promise<void> {
    const { keys, blocked, views, owner } = this.parts;
    const { generation } = this;
    const { lease, token, signal } = this.options;
    let view = await views.reload();
    this.runId = view.runId;
    await this.options.claim(this.writer.mostBytes);
    await this.writer.writeEmpty(signal);
    for (let attempt = 1; ; attempt++) {
      if (!view.stored) {
        await views.takeOffline(view, 'unbuilt', 'The metadata are gone.');
        await views.reload();
      }
      const reply = await blocked.publish(keys, { lease, token, runId: this.runId, generation, owner });
      views.forget();
      if (reply !== 'NOMETA' || attempt === MAX_ATTEMPTS) return assertOk(reply);
      view = await views.reload();
    }
  }

  merge(signal: AbortSignal): Promise<void> {
    const scratch = this.parts.keys.scratch(this.options.token);
    return this.writer.merge(this.local.bytes, scratch, signal);
  }

  check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return this.reader.read(this.staged, ids);
  }

  async commit(ids: number): Promise<void> {
    const { parts } = this;
    const view = await commitSwap<BlockedSnapshot>({
      ...parts,
      swap: ({ live }) => this.swap(live, ids),
      isLive: ({ live }) => live?.generation.tag === this.generation.tag,
    });
    await parts.views.remove(this.asideKeys(view.live));
  }

  async abort(): Promise<void> {
    const { keys, blocked, views } = this.parts;
    const { token } = this.options;
    try {
      await blocked.withdraw(keys, token);
    } finally {
      views.forget();
      await views.remove([...this.keysToRenew(), keys.scratch(token)]);
    }
  }

  private swap(old: SegmentedGeneration | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { lease, token, plan } = this.options;
    return this.parts.blocked.swap(this.parts.keys, {
      lease,
      token,
      runId: this.runId,
      staged: this.staged,
      old,
      ids,
      capacity: plan.capacity,
      errorRate: plan.errorRate,
      builtAt: Date.now(),
    });
  }

  private asideKeys(old: SegmentedGeneration | undefined): string[] {
    const { keys } = this.parts;
    return Array.from({ length: old?.segments ?? 0 }, (_, index) => keys.aside(this.options.token, index));
  }
}
