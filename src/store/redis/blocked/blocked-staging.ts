import {
  BLOCK_BYTES,
  BlockedFilter,
  BlockedWindow,
  type Generation,
  generationOf,
  type IdKey,
  isOutgrown,
} from '../../../filter/index.js';
import type { BloomVerdict } from '../../index.js';
import type { Outdated } from '../meta/unknown-reason.js';
import { type Refusal, MAX_ATTEMPTS } from '../swap/rebuild-step.js';
import type { BlockReader } from '../staging/block-reader.js';
import { SegmentWriter } from '../staging/segment-writer.js';
import {
  SEGMENT_BLOCKS,
  SEGMENT_BYTES,
  type SegmentedGeneration,
  segmentedGeneration,
  segmentKeys,
} from '../staging/segments.js';
import { METADATA_GONE } from '../meta/meta.messages.js';
import { StagingBase, type StagingContext } from '../staging/staging-base.js';
import { assertOk } from '../swap/commit-swap.js';
import type { BlockedContext } from './blocked-context.js';
import { type BlockedSnapshot, formatOf } from './blocked-meta.js';
import { type CopyWait, waitMs } from './copies/copy-waits.js';

/** A reader that takes longer loads after the swap, while Redis answers for it. */
const LONGEST_ANNOUNCEMENT_MS = 30_000;
const ASK_READERS_EVERY_MS = 25;

/** The next generation of a filter of layout `blocked`, in segments that the swap renames. */
export class BlockedStaging extends StagingBase<Generation, BlockedSnapshot> {
  readonly capacity: number;
  readonly bytes: number;
  protected readonly generation: Generation;

  private scanned: BlockedFilter | BlockedWindow | undefined;
  /** Segments that a pass fills, and the first of this one. */
  private passSegments: number;
  private firstSegment = 0;
  private readonly staging: SegmentedGeneration;
  private readonly writer: SegmentWriter;
  private publishedAt = Infinity;
  private swapped: { readonly snapshot: BlockedSnapshot; readonly wait: CopyWait | undefined } | undefined;

  constructor(
    protected override readonly filter: BlockedContext,
    private readonly reader: BlockReader,
    context: StagingContext,
  ) {
    super(filter, context);
    const { plan, token } = context;
    this.generation = generationOf(filter.part ? { ...plan, range: undefined } : plan);
    this.staging = segmentedGeneration(this.generation, (index) => filter.keys.staging(token, index));
    this.passSegments = this.staging.segments;
    this.capacity = plan.capacity;
    this.bytes = this.generation.blocks * BLOCK_BYTES;
    const { keys, connection } = filter;
    this.writer = new SegmentWriter({ ...context, keys, connection, target: this.staging });
  }

  /** Made when the scan begins: the drain before it needs no memory. */
  get local(): BlockedFilter | BlockedWindow {
    return (this.scanned ??= this.isDivided ? this.window() : new BlockedFilter(this.generation));
  }

  override divide(memoryBytes: number): number {
    const { segments } = this.staging;
    const most = Math.max(1, Math.floor(memoryBytes / SEGMENT_BYTES));
    const passes = Math.max(1, Math.ceil(segments / most));
    // As even as can be.
    this.passSegments = Math.ceil(segments / passes);
    return Math.ceil(segments / this.passSegments);
  }

  override beginPass(pass: number): void {
    this.firstSegment = pass * this.passSegments;
    if (this.scanned instanceof BlockedWindow) this.moveWindow(this.scanned);
  }

  /** A filter that is filled in passes has no range. */
  get isOutgrown(): boolean {
    const { scanned } = this;
    return scanned instanceof BlockedFilter && isOutgrown(scanned, this.context.plan.errorRate);
  }

  ownKeys(): string[] {
    return segmentKeys([this.staging]);
  }

  merge(signal: AbortSignal): Promise<void> {
    return this.writer.merge(this.local.bytes, this.scratch, signal, this.firstSegment);
  }

  private get isDivided(): boolean {
    return this.passSegments < this.staging.segments;
  }

  private window(): BlockedWindow {
    const window = new BlockedWindow(this.generation, this.passSegments * SEGMENT_BLOCKS);
    this.moveWindow(window);
    return window;
  }

  private moveWindow(window: BlockedWindow): void {
    const first = this.firstSegment * SEGMENT_BLOCKS;
    window.moveTo(first, Math.min(this.passSegments * SEGMENT_BLOCKS, this.generation.blocks - first));
  }

  protected async writeEmpty(): Promise<void> {
    await this.context.claim(this.writer.mostBytes);
    await this.writer.writeEmpty(this.context.signal);
  }

  /** The metadata must be there before, since what is live without them has to be retired. */
  protected override async publish(snapshot: BlockedSnapshot): Promise<void> {
    const { metadata } = this.filter;
    let known = snapshot;
    for (let attempt = 1; ; attempt++) {
      if (!known.stored) {
        await metadata.takeOffline(known, 'unbuilt', METADATA_GONE);
        await metadata.reload();
      }
      const reply = await this.sendPublish();
      this.publishedAt = performance.now();
      if (reply !== 'NOMETA' || attempt === MAX_ATTEMPTS) return assertOk(reply);
      known = await metadata.reload();
    }
  }

  protected read(ids: readonly IdKey[]): Promise<BloomVerdict[] | Outdated> {
    return this.reader.read(this.staging, ids);
  }

  protected async swap(
    live: SegmentedGeneration | undefined,
    ids: number,
    snapshot: BlockedSnapshot,
  ): Promise<Refusal | 'OK'> {
    const { lease, token, plan } = this.context;
    const { capacity, errorRate } = plan;
    const { runId, staging, publishedAt } = this;
    const { blocked, keys, lostLeases } = this.filter;
    const { storedTag, leasesMs } = snapshot;
    const { leaseMs } = lostLeases;
    // If the reply is lost, nobody knows whom the swap has to wait for.
    const ms = leasesMs ?? 0;
    this.swapped = { snapshot, wait: { for: 'time', ms, list: '', number: 0 } };
    const format = this.filter.part ? undefined : formatOf(this.generation, storedTag);
    const command = {
      lease,
      token,
      runId,
      staging,
      live,
      storedTag,
      leaseMs,
      ids,
      capacity,
      errorRate,
      format,
    };
    for (;;) {
      const publishedMs = performance.now() - publishedAt;
      const reply = await blocked.swap(keys, { ...command, builtAt: Date.now(), publishedMs });
      if (typeof reply === 'string') return reply;
      if ('earlyMs' in reply) await waitMs(reply.earlyMs);
      else {
        this.swapped = { snapshot, wait: reply.wait };
        return 'OK';
      }
    }
  }

  /** What the source has returned is promised from then on. */
  override async commit(ids: number): Promise<void> {
    await announceStaging(this.filter, this.context);
    await super.commit(ids);
    if (this.swapped) await this.filter.copyWaits.settle(this.swapped.snapshot, this.swapped.wait);
  }

  protected retiredKeys(live: SegmentedGeneration | undefined): string[] {
    const { keys } = this.filter;
    const { token } = this.context;
    return Array.from({ length: live?.segments ?? 0 }, (_, index) => keys.retired(token, index));
  }

  protected override scratchKeys(): string[] {
    return [this.scratch];
  }

  private get scratch(): string {
    return this.filter.keys.scratch(this.context.token);
  }
}

/**
 * Has the readers of a filter copy a staging before it goes live, and waits until they have. Everything that
 * its rebuild has read must be in it. What fails here is no hindrance to the swap.
 */
async function announceStaging(
  { copyScripts, keys, metadata, emit, name }: BlockedContext,
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): Promise<void> {
  const until = performance.now() + LONGEST_ANNOUNCEMENT_MS;
  try {
    const { leasesMs } = await metadata.current();
    if (leasesMs === undefined) return;
    let waited = await copyScripts.announce(keys, token, true);
    while (waited > 0 && performance.now() < until && !signal.aborted) {
      await waitMs(ASK_READERS_EVERY_MS);
      waited = await copyScripts.announce(keys, token, false);
    }
  } catch (error) {
    emit({ type: 'store-error', filter: name, operation: 'announce the staging to readers', error });
  }
}
