import { BloomRebuildError } from '../../common/index.js';
import { BLOCK_BYTES, type BlockedFilter, type Generation, type IdKey } from '../../filter/index.js';
import type { BloomVerdict, BuiltGeneration, Staging } from '../index.js';
import type { BlockReader } from './block-reader.js';
import type { RedisFilterParts } from './redis-filter-parts.js';
import type { Refusal } from './redis-scripts.js';
import { SEGMENT_BYTES, type SegmentedGeneration, segmentedGeneration, segmentLength } from './segments.js';

/** What one command of a rebuild moves: Redis serves other clients in between. */
const PIECE_BYTES = 256 * 1024;
/** How often a step starts over when the filter changed under it. */
const MAX_ATTEMPTS = 5;
/** How often, and with what pause, the metadata are asked whether a swap took place whose reply was lost. */
const SWAP_INQUIRIES = 20;
const SWAP_INQUIRY_PAUSE_MS = 500;

export interface RedisStagingOptions {
  readonly generation: Generation;
  /** Token of the lease. */
  readonly lease: string;
  /** Token of this staging; part of its keys. */
  readonly token: string;
  readonly lifeMs: number;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
}

export class RedisStaging implements Staging {
  readonly generation: Generation;
  /** Other processes add too, and nobody notes when. */
  readonly quietMs = 0;

  private readonly staged: SegmentedGeneration;
  private runId = '';

  constructor(
    private readonly parts: RedisFilterParts,
    private readonly reader: BlockReader,
    private readonly options: RedisStagingOptions,
  ) {
    this.generation = options.generation;
    this.staged = segmentedGeneration(options.generation, (index) => parts.keys.staged(options.token, index));
  }

  segmentKeys(): string[] {
    return Array.from({ length: this.staged.segments }, (_, index) => this.staged.key(index));
  }

  /** Writes the empty segments, then makes them known to every process that adds. */
  async open(): Promise<void> {
    const { keys, scripts, views } = this.parts;
    const { generation, lease, token, lifeMs, signal } = this.options;
    let view = await views.reload();
    this.runId = view.runId;
    for (let segment = 0; segment < this.staged.segments; segment++) {
      const length = segmentLength(generation, segment);
      for (let from = 0; from < length; from += PIECE_BYTES) {
        signal.throwIfAborted();
        const blocks = Math.min(PIECE_BYTES, length - from) / BLOCK_BYTES;
        demand(
          await scripts.stage(keys, {
            lease,
            segment: this.staged.key(segment),
            generation,
            from,
            blocks,
            lifeMs,
          }),
        );
      }
    }
    for (let attempt = 1; ; attempt++) {
      if (!view.stored) {
        await views.takeOffline(view, 'unbuilt', 'The metadata are gone.');
        await views.reload();
      }
      const reply = await scripts.publish(keys, { lease, token, runId: this.runId, generation });
      views.forget();
      if (reply !== 'NOMETA' || attempt === MAX_ATTEMPTS) return demand(reply);
      view = await views.reload();
    }
  }

  async merge(filter: BlockedFilter, signal: AbortSignal): Promise<void> {
    const { keys, scripts } = this.parts;
    const { generation, lease, token, lifeMs } = this.options;
    const scratch = keys.scratch(token);
    const bytes = Buffer.from(filter.bytes.buffer, filter.bytes.byteOffset, filter.bytes.byteLength);
    for (let segment = 0; segment < this.staged.segments; segment++) {
      const length = segmentLength(generation, segment);
      for (let from = 0; from < length; from += PIECE_BYTES) {
        signal.throwIfAborted();
        const at = segment * SEGMENT_BYTES + from;
        const piece = bytes.subarray(at, at + Math.min(PIECE_BYTES, length - from));
        demand(await scripts.load(keys, { lease, scratch, from, piece, lifeMs }));
      }
      demand(
        await scripts.merge(keys, { lease, segment: this.staged.key(segment), scratch, length, lifeMs }),
      );
    }
  }

  check(ids: readonly IdKey[]): Promise<BloomVerdict[]> {
    return this.reader.read(this.staged, ids);
  }

  async commit(built: BuiltGeneration): Promise<void> {
    const { views } = this.parts;
    for (let attempt = 1; ; attempt++) {
      const view = await views.reload();
      let reply: Refusal | 'OK' | undefined;
      let failure: unknown;
      try {
        reply = await this.swap(view.live, built);
      } catch (error) {
        failure = error;
      }
      views.forget();
      if (reply === 'OK' || (await this.isLive())) {
        await views.remove(this.asideKeys(view.live));
        return;
      }
      if (failure) throw failure;
      // The live generation went offline in between: the swap is still due.
      if (reply !== 'STALE' || attempt === MAX_ATTEMPTS) return demand(reply!);
    }
  }

  async abort(): Promise<void> {
    const { keys, scripts, views } = this.parts;
    const { token } = this.options;
    await scripts.withdraw(keys, token);
    views.forget();
    await views.remove([...this.segmentKeys(), keys.scratch(token)]);
  }

  private swap(old: SegmentedGeneration | undefined, built: BuiltGeneration): Promise<Refusal | 'OK'> {
    const { lease, token } = this.options;
    return this.parts.scripts.swap(this.parts.keys, {
      lease,
      token,
      runId: this.runId,
      staged: this.staged,
      old,
      ...built,
      builtAt: Date.now(),
    });
  }

  private asideKeys(old: SegmentedGeneration | undefined): string[] {
    const { keys } = this.parts;
    return Array.from({ length: old?.segments ?? 0 }, (_, index) => keys.aside(this.options.token, index));
  }

  /** Whether the swap took place: decided by the metadata, since its reply may have been lost. */
  private async isLive(): Promise<boolean> {
    const { views, emit, name } = this.parts;
    for (let inquiry = 1; ; inquiry++) {
      try {
        const view = await views.reload();
        return view.live?.generation.tag === this.options.generation.tag;
      } catch (error) {
        if (inquiry === SWAP_INQUIRIES) throw error;
        emit({ type: 'store-error', filter: name, operation: 'ask whether the swap took place', error });
        await new Promise((resolve) => setTimeout(resolve, SWAP_INQUIRY_PAUSE_MS));
      }
    }
  }
}

function demand(reply: Refusal | 'OK'): void {
  switch (reply) {
    case 'OK':
      return;
    case 'LEASE':
      throw new BloomRebuildError('lease-lost', 'Another process holds the lease now, or it expired.');
    case 'LENGTH':
      throw new BloomRebuildError(
        'staging-damaged',
        'A staged segment was evicted, deleted or changed by somebody else.',
      );
    case 'SERVER':
      throw new BloomRebuildError(
        'staging-damaged',
        'The server restarted or failed over during the rebuild.',
      );
    case 'STALE':
      throw new BloomRebuildError(
        'staging-damaged',
        'Another rebuild was published, or the filter kept changing.',
      );
    case 'NOMETA':
      throw new BloomRebuildError(
        'staging-damaged',
        'The metadata of the filter vanished during the rebuild.',
      );
    case 'FORMAT':
      throw new BloomRebuildError('store-failed', 'The stored filter has a newer format.');
  }
}
