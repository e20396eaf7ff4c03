import { BLOCK_BYTES, BlockedFilter, countBits, type Generation, type IdKey } from '../../filter/index.js';
import type { BlocksRead } from '../index.js';

/** Blocks that are looked at to learn how full a copy is. */
const SAMPLED_BLOCKS = 64;
/** Share of absent ids that pass, from which on a copy is of no use any more. */
const CROWDED_RATE = 0.05;

/** Blocks of one generation, and of no other, in the memory of this process. It may lack what others have added since. */
export class LocalCopy {
  /** Before that it must not answer: it would send almost every id to the store. */
  isWhole = false;

  private readonly filter: BlockedFilter;

  constructor(readonly generation: Generation) {
    this.filter = new BlockedFilter(generation);
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

  /** True is final. False has to be confirmed. */
  mightContain(id: IdKey): boolean {
    return this.filter.mightContainKey(id);
  }

  add(id: IdKey): void {
    const { layout, bytes } = this.filter;
    if (layout.locate(id)) layout.insert(bytes, layout.block * BLOCK_BYTES, layout.seed);
  }

  /** Takes consecutive blocks; false when one of them is not of this generation, and then none. */
  fill(first: number, blocks: Uint8Array): boolean {
    for (let at = 0; at < blocks.length; at += BLOCK_BYTES) if (!this.owns(blocks, at)) return false;
    this.filter.bytes.set(blocks, first * BLOCK_BYTES);
    return true;
  }

  /** Takes the blocks of a check that are of this generation. */
  refresh({ numbers, blocks }: BlocksRead): void {
    const { bytes } = this.filter;
    for (let i = 0; i < blocks.length; i++) {
      const block = blocks[i]!;
      if (block.length === BLOCK_BYTES && this.owns(block, 0)) bytes.set(block, numbers[i]! * BLOCK_BYTES);
    }
  }

  /** Whether the block at `offset` is there whole and has the tag of this generation. */
  private owns(bytes: Uint8Array, offset: number): boolean {
    if (offset + BLOCK_BYTES > bytes.length) return false;
    const tag =
      bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
    return tag === (this.generation.tag | 0);
  }
}
