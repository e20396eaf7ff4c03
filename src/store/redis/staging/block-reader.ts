import {
  BLOCK_BYTES,
  type FilterFill,
  type IdKey,
  measuredFill,
  sampledBlocks,
} from '../../../filter/index.js';
import type { BlockListener, KnownVerdict } from '../../index.js';
import { RANGE_BYTES, writeRange } from './segments.js';
import type { RedisConnection } from '../client/redis-connection.js';
import { SegmentScripts } from './segment-writer.js';
import { SEGMENT_BLOCKS, type SegmentedGeneration } from './segments.js';

/** Ids of one script call at most: it holds the server for about a quarter of a millisecond. */
const IDS_PER_CALL = 256;

/** Asks a generation in Redis for ids. */
export class BlockReader {
  private readonly scripts: SegmentScripts;

  constructor(
    private readonly connection: RedisConnection,
    private readonly onBlocks?: BlockListener,
  ) {
    this.scripts = new SegmentScripts(connection);
  }

  /** A verdict for each id; `UNPROVED` when a block is missing or not of this generation. */
  async read(from: SegmentedGeneration, ids: readonly IdKey[]): Promise<KnownVerdict[] | 'UNPROVED'> {
    if (ids.length <= IDS_PER_CALL) return this.readSome(from, ids);
    const idsPerCall = Math.ceil(ids.length / Math.ceil(ids.length / IDS_PER_CALL));
    const calls: Promise<KnownVerdict[] | 'UNPROVED'>[] = [];
    for (let at = 0; at < ids.length; at += idsPerCall) {
      calls.push(this.readSome(from, ids.slice(at, at + idsPerCall)));
    }
    const replies = await Promise.all(calls);
    return replies.includes('UNPROVED') ? 'UNPROVED' : (replies as KnownVerdict[][]).flat();
  }

  /** The blocks of these numbers; undefined when one is missing or not of this generation. */
  async blocks(from: SegmentedGeneration, numbers: readonly number[]): Promise<Buffer[] | undefined> {
    const found: Buffer[] = [];
    for (let at = 0; at < numbers.length; at += IDS_PER_CALL) {
      const some = numbers.slice(at, at + IDS_PER_CALL);
      const keys = new KeyIndex(from);
      const records = Buffer.allocUnsafe(some.length * (2 + RANGE_BYTES));
      let end = 0;
      for (const block of some) {
        end = records.writeUInt16BE(keys.indexOf(Math.floor(block / SEGMENT_BLOCKS)), end);
        end = writeRange(records, end, block % SEGMENT_BLOCKS);
      }
      const blocks = await this.ownBlocks(from, keys.keys, records.subarray(0, end));
      if (blocks?.length !== some.length) return undefined;
      found.push(...blocks);
    }
    return found;
  }

  /** How full the generation is, from the bits that are set in a sample of the blocks. */
  async measure(from: SegmentedGeneration): Promise<FilterFill | undefined> {
    const numbers = sampledBlocks(from.generation);
    const blocks = await this.blocks(from, numbers);
    return blocks && measuredFill(numbers, blocks, from.generation);
  }

  /** As `read`, by a command that takes the server less time than a script. */
  async readOne(from: SegmentedGeneration, id: IdKey): Promise<KnownVerdict[] | 'UNPROVED'> {
    const { layout } = from;
    const fits = layout.locate(id);
    const { block, seed } = layout;
    const offset = (block % SEGMENT_BLOCKS) * BLOCK_BYTES;
    const key = from.key(Math.floor(block / SEGMENT_BLOCKS));
    const bytes = await this.connection.getRange(key, offset, offset + BLOCK_BYTES - 1);
    if (bytes.length !== BLOCK_BYTES || !layout.owns(bytes, 0)) return 'UNPROVED';
    this.onBlocks?.({ generation: from.generation, numbers: [block], blocks: [bytes] });
    return [fits && layout.contains(bytes, 0, seed) ? 'maybe' : 'absent'];
  }

  private async readSome(
    from: SegmentedGeneration,
    ids: readonly IdKey[],
  ): Promise<KnownVerdict[] | 'UNPROVED'> {
    const { layout } = from;
    const numbers = new Int32Array(ids.length);
    const seeds = new Int32Array(ids.length);
    const fits = new Uint8Array(ids.length);
    const keys = new KeyIndex(from);
    const records = Buffer.allocUnsafe(ids.length * (2 + RANGE_BYTES));
    let end = 0;
    for (let i = 0; i < ids.length; i++) {
      fits[i] = layout.locate(ids[i]!) ? 1 : 0;
      numbers[i] = layout.block;
      seeds[i] = layout.seed;
      const key = keys.indexOf(Math.floor(layout.block / SEGMENT_BLOCKS));
      records[end++] = key >>> 8;
      records[end++] = key;
      end = writeRange(records, end, layout.block % SEGMENT_BLOCKS);
    }
    const blocks = await this.ownBlocks(from, keys.keys, records.subarray(0, end));
    if (blocks?.length !== ids.length) return 'UNPROVED';
    this.onBlocks?.({ generation: from.generation, numbers, blocks });
    return blocks.map((block, i) => (fits[i] && layout.contains(block, 0, seeds[i]!) ? 'maybe' : 'absent'));
  }

  /** The blocks that the script found; undefined unless all are whole and of this generation. */
  private async ownBlocks(
    { layout }: SegmentedGeneration,
    keys: readonly string[],
    records: Buffer,
  ): Promise<Buffer[] | undefined> {
    const blocks = await this.scripts.check(keys, records);
    const isOwn = (block: unknown) =>
      Buffer.isBuffer(block) && block.length === BLOCK_BYTES && layout.owns(block, 0);
    return blocks.every(isOwn) ? (blocks as Buffer[]) : undefined;
  }
}

/** Numbers segments from 1 in the order in which they are first named, as a script finds them in KEYS. */
export class KeyIndex {
  readonly keys: string[] = [];
  private readonly indexes = new Map<number, number>();

  constructor(
    private readonly of: SegmentedGeneration,
    /** Keys that stand before these. */
    private readonly before = 0,
  ) {}

  indexOf(segment: number): number {
    let index = this.indexes.get(segment);
    if (index === undefined) {
      this.keys.push(this.of.key(segment));
      index = this.before + this.keys.length;
      this.indexes.set(segment, index);
    }
    return index;
  }
}
