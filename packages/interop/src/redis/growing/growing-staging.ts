import { BLOCK_BYTES, BlockedFilter, type IdKey } from 'nestjs-bloom/filter';
import type { ScalingOptions } from '../../scaling/growing-plan.js';
import type { BloomVerdict } from 'nestjs-bloom/store';
import type { StoredGeneration } from '../generation/generation-meta.js';
import {
  type Outdated,
  type Refusal,
  segmentKeys,
  SegmentWriter,
  StagingBase,
  type StagingContext,
} from 'nestjs-bloom/internal';
import type { GrowingContext, GrowingSnapshot } from './growing-context.js';
import { firstGeneration, type ResolvedGrowing } from './resolved-growing.js';

/** The first layer of the next generation: of a filter that is made, or emptied. */
export class GrowingStaging extends StagingBase<StoredGeneration, GrowingSnapshot> {
  /** It grows. */
  readonly capacity = Infinity;
  readonly bytes: number;

  private readonly staging: ResolvedGrowing;
  private readonly writer: SegmentWriter;
  private scanned: BlockedFilter | undefined;

  constructor(
    protected override readonly filter: GrowingContext,
    context: StagingContext,
    scaling: ScalingOptions,
  ) {
    super(filter, context);
    const { keys, connection } = filter;
    const { plan, token } = context;
    const { capacity, errorRate, maxIdBytes } = plan;
    this.staging = firstGeneration(keys, { token, demand: { capacity, errorRate, scaling }, maxIdBytes });
    const target = this.staging.layers[0]!;
    this.writer = new SegmentWriter({ ...context, keys, connection, target });
    this.bytes = target.generation.blocks * BLOCK_BYTES;
  }

  get local(): BlockedFilter {
    return (this.scanned ??= new BlockedFilter(this.staging.layers[0]!.generation));
  }

  ownKeys(): string[] {
    return segmentKeys(this.staging.layers);
  }

  merge(signal: AbortSignal): Promise<void> {
    return this.writer.merge(this.local.bytes, this.scratch, signal);
  }

  protected get generation(): StoredGeneration {
    return this.staging.generation;
  }

  protected async writeEmpty(): Promise<void> {
    await this.context.claim(this.writer.mostBytes);
    await this.writer.writeEmpty(this.context.signal);
  }

  protected read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated> {
    return this.filter.reader.check(this.staging, ids, 'staging');
  }

  protected swap(live: ResolvedGrowing | undefined, ids: number): Promise<Refusal | 'OK'> {
    const { lease } = this.context;
    const built = { runId: this.runId, ids, builtAt: Date.now() };
    return this.filter.growing.swap(this.staging, { lease, live, ...built });
  }

  protected retiredKeys(live: ResolvedGrowing | undefined): string[] {
    return segmentKeys(live?.layers ?? []);
  }

  protected override scratchKeys(): string[] {
    return [this.scratch];
  }

  private get scratch(): string {
    return this.filter.keys.stagingPart(this.context.token, 'scratch');
  }
}
