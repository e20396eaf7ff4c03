import { BLOCK_BYTES, BlockedFilter, countBits, type Generation, type IdKey } from '../../filter/index.js';
import type { BlocksRead } from '../index.js';

/** Blocks that are looked at to learn how full a copy is. */
const SAMPLED_BLOCKS = 64;
/** Share of absent ids that pass, from which on a copy is of no use any more. */
const CROWDED_RATE = 0.05;

/** Memory that all copies share, for the words of the piece that was read last. */
let aligned = new Uint32Array(BLOCK_BYTES / 4);

/** What says whether the absent answers of a copy are true. */
export interface CopyProof {
  readonly isBelieved: boolean;
}

/** Blocks of one generation, and of no other, in the memory of this process. It may lack what others have added since. */
export class LocalCopy {
  /** Before that it must not answer: it would send almost every id to the store. */
  isWhole = false;
  /** Undefined where the store has to confirm whatever is absent. */
  proof: CopyProof | undefined;

  private readonly filter: BlockedFilter;

  /** @param keepsBits whether what it has been given stays in it: blocks that were read may be older than that. */
  constructor(
    readonly generation: Generation,
    private readonly keepsBits = false,
  ) {
    this.filter = new BlockedFilter(generation, false);
  }

  get byteLength(): number {
    return this.filter.bytes.length;
  }

  /** Whether it lets so much through that it had better be replaced at once. */
  isCrowded(): boolean {
    const { bytes } = this.filter;
    const blocks = Math.min(SAMPLED_BLOCKS, this.generation.blocks);
    const step = Math.floor(this.generation.blocks / blocks) * BLOCK_BYTES;
    let bits = 0;
    for (let i = 0; i < blocks; i++) bits += countBits(bytes.subarray(i * step, i * step + BLOCK_BYTES));
    return (bits / (8 * BLOCK_BYTES * blocks)) ** this.generation.hashCount > CROWDED_RATE;
  }

  /** True is final. False has to be confirmed, by the store or by the proof, which is looked at afterwards and in the same turn. */
  mightContain(id: IdKey): boolean {
    return this.filter.mightContainKey(id);
  }

  add(id: IdKey): void {
    const { layout, bytes } = this.filter;
    if (layout.locate(id)) layout.insert(bytes, layout.block * BLOCK_BYTES, layout.seed);
  }

  /** Takes ids by their places, for each its block and then its seed; false when there is no such block. */
  insert(places: Uint32Array): boolean {
    const { layout, bytes } = this.filter;
    for (let i = 0; i + 1 < places.length; i += 2) {
      if (places[i]! >= this.generation.blocks) return false;
      layout.insert(bytes, places[i]! * BLOCK_BYTES, places[i + 1]! | 0);
    }
    return places.length % 2 === 0;
  }

  /** Takes consecutive blocks; false when one of them is not of this generation, and then none. */
  fill(first: number, blocks: Uint8Array): boolean {
    for (let at = 0; at < blocks.length; at += BLOCK_BYTES) if (!this.owns(blocks, at)) return false;
    this.take(blocks, first * BLOCK_BYTES);
    return true;
  }

  /** Takes the blocks of a check that are of this generation. */
  refresh({ numbers, blocks }: BlocksRead): void {
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[i]!;
      if (block.length === BLOCK_BYTES && this.owns(block, 0)) this.take(block, numbers[i]! * BLOCK_BYTES);
    }
  }

  private take(blocks: Uint8Array, offset: number): void {
    const { bytes } = this.filter;
    if (!this.keepsBits) return bytes.set(blocks, offset);
    // Replies begin at any byte of a buffer, and words only at every fourth.
    const read = this.wordsOf(blocks);
    const words = new Uint32Array(bytes.buffer, offset, read.length);
    for (let i = 0; i < read.length; i++) words[i]! |= read[i]!;
  }

  /** The next call overwrites the words: new memory for each piece of a load would be garbage of the size of the filter. */
  private wordsOf(blocks: Uint8Array): Uint32Array {
    if (blocks.length > aligned.byteLength) aligned = new Uint32Array(blocks.length / 4);
    new Uint8Array(aligned.buffer).set(blocks);
    return aligned.subarray(0, blocks.length / 4);
  }

  /** Whether the block at `offset` is there whole and has the tag of this generation. */
  private owns(bytes: Uint8Array, offset: number): boolean {
    if (offset + BLOCK_BYTES > bytes.length) return false;
    const tag =
      bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
    return tag === (this.generation.tag | 0);
  }
}
