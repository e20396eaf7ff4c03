import { BLOCK_BYTES, type Generation } from '../../../filter/index.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { asBuffer, defineScripts } from '../client/script.js';
import { coreLua } from '../lua/core.generated.js';
import type { RedisKeys } from '../meta/redis-keys.js';
import { SEGMENT_BYTES, type SegmentedGeneration, segmentLength, tagText } from './segments.js';
import { assertOk } from '../swap/commit-swap.js';
import { PIECE_BYTES, type Refusal, runStep } from '../swap/rebuild-step.js';

const SCRIPTS = defineScripts(coreLua, ['check', 'stage', 'load', 'merge']);

export interface SegmentWriterOptions {
  readonly connection: RedisConnection;
  readonly keys: Pick<RedisKeys, 'lease'>;
  /** Token of the lease. */
  readonly lease: string;
  readonly target: SegmentedGeneration;
  /** Life of what is written, in milliseconds. */
  readonly lifeMs: number;
}

/** Writes the segments of a generation that is not live yet, under a lease, in bounded pieces. */
export class SegmentWriter {
  private readonly scripts: SegmentScripts;

  constructor(private readonly options: SegmentWriterOptions) {
    this.scripts = new SegmentScripts(options.connection);
  }

  /** Bytes that are written at most: the segments, a scratch segment, and what `BITOP` makes of one. */
  get mostBytes(): number {
    const bytes = this.options.target.generation.blocks * BLOCK_BYTES;
    return bytes + 2 * Math.min(bytes, SEGMENT_BYTES);
  }

  /** All segments, empty, with their tags. */
  async writeEmpty(signal: AbortSignal): Promise<void> {
    const { scripts } = this;
    const { keys, lease, target, lifeMs } = this.options;
    const { generation } = target;
    for (const { segment, from, bytes } of this.pieces(signal)) {
      const blocks = bytes / BLOCK_BYTES;
      assertOk(
        await scripts.stage(keys, { lease, segment: target.key(segment), generation, from, blocks, lifeMs }),
      );
    }
  }

  /** Adds the bits of blocks, which begin with segment `first`, by way of a scratch string. */
  async merge(blocks: Uint8Array, scratch: string, signal: AbortSignal, first = 0): Promise<void> {
    const { scripts } = this;
    const { keys, lease, target, lifeMs } = this.options;
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

/** The scripts on blocks in segments, live or staged. */
export class SegmentScripts {
  constructor(private readonly connection: RedisConnection) {}

  /** The blocks that the records name; something else for one that is not there whole. */
  async check(segmentKeys: readonly string[], records: Buffer): Promise<readonly unknown[]> {
    return (await this.connection.runRead(SCRIPTS.check, segmentKeys, [records])) as unknown[];
  }

  async stage(
    keys: Pick<RedisKeys, 'lease'>,
    options: {
      lease: string;
      segment: string;
      generation: Generation;
      from: number;
      blocks: number;
      lifeMs: number;
    },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, generation, from, blocks, lifeMs } = options;
    return runStep(
      this.connection,
      SCRIPTS.stage,
      [keys.lease, segment],
      [lease, tagText(generation), from, blocks, lifeMs],
    );
  }

  async load(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; scratch: string; from: number; piece: Buffer; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, scratch, from, piece, lifeMs } = options;
    return runStep(this.connection, SCRIPTS.load, [keys.lease, scratch], [lease, from, piece, lifeMs]);
  }

  async merge(
    keys: Pick<RedisKeys, 'lease'>,
    options: { lease: string; segment: string; scratch: string; length: number; lifeMs: number },
  ): Promise<Refusal | 'OK'> {
    const { lease, segment, scratch, length, lifeMs } = options;
    return runStep(this.connection, SCRIPTS.merge, [keys.lease, segment, scratch], [lease, length, lifeMs]);
  }
}
