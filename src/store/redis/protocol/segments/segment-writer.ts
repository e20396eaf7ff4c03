import { BLOCK_BYTES } from '../../../../filter/index.js';
import { asBuffer } from '../../client/as-buffer.js';
import { PIECE_BYTES } from '../limits.js';
import type { RedisKeys } from '../redis-keys.js';
import type { SegmentScripts } from './segment-scripts.js';
import { SEGMENT_BYTES, type SegmentedGeneration, segmentLength } from './segments.js';
import { assertOk } from '../swap-steps.js';

export interface SegmentWriterOptions {
  readonly scripts: SegmentScripts;
  readonly keys: Pick<RedisKeys, 'lease'>;
  /** Token of the lease. */
  readonly lease: string;
  readonly target: SegmentedGeneration;
  /** Life of what is written, in milliseconds. */
  readonly lifeMs: number;
}

/** Writes the segments of a generation that is not live yet, under a lease, in bounded pieces. */
export class SegmentWriter {
  constructor(private readonly options: SegmentWriterOptions) {}

  /** Bytes that are written at most: the segments, a scratch segment, and what `BITOP` makes of one. */
  get mostBytes(): number {
    const bytes = this.options.target.generation.blocks * BLOCK_BYTES;
    return bytes + 2 * Math.min(bytes, SEGMENT_BYTES);
  }

  /** All segments, empty, with their tags. */
  async writeEmpty(signal: AbortSignal): Promise<void> {
    const { scripts, keys, lease, target, lifeMs } = this.options;
    const { generation } = target;
    for (const { segment, from, bytes } of this.pieces(signal)) {
      const blocks = bytes / BLOCK_BYTES;
      assertOk(
        await scripts.stage(keys, { lease, segment: target.key(segment), generation, from, blocks, lifeMs }),
      );
    }
  }

  /** Adds the bits of all blocks of the same generation, or of those of some segments from `first` on, by way of a scratch string. */
  async merge(blocks: Uint8Array, scratch: string, signal: AbortSignal, first = 0): Promise<void> {
    const { scripts, keys, lease, target, lifeMs } = this.options;
    const all = asBuffer(blocks);
    const end = first + Math.ceil(blocks.length / SEGMENT_BYTES);
    for (const { segment, from, bytes } of this.pieces(signal, first, end)) {
      const at = (segment - first) * SEGMENT_BYTES + from;
      const piece = all.subarray(at, at + bytes);
      assertOk(await scripts.load(keys, { lease, scratch, from, piece, lifeMs }));
      const length = segmentLength(target.generation, segment);
      if (from + bytes < length) continue;
      assertOk(await scripts.merge(keys, { lease, segment: target.key(segment), scratch, length, lifeMs }));
    }
  }

  private *pieces(
    signal: AbortSignal,
    first = 0,
    end = this.options.target.segments,
  ): Generator<{ segment: number; from: number; bytes: number }> {
    const { generation } = this.options.target;
    for (let segment = first; segment < end; segment++) {
      const length = segmentLength(generation, segment);
      for (let from = 0; from < length; from += PIECE_BYTES) {
        signal.throwIfAborted();
        yield { segment, from, bytes: Math.min(PIECE_BYTES, length - from) };
      }
    }
  }
}
