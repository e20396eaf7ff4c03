import { countBits } from './count-bits.js';
import { BLOCK_BYTES, BLOCK_DATA_BITS, TAG_BYTES } from './sizing.js';

/** Blocks that are looked at to know how full a filter is; of a filter that has no more, all. */
const SAMPLED_BLOCKS = 512;

/** Numbers of blocks that stand for all of a filter: one at random in each of equal parts of it. */
export function sampledBlocks(blocks: number): number[] {
  const count = Math.min(blocks, SAMPLED_BLOCKS);
  return Array.from({ length: count }, (_, part) => {
    const from = Math.floor((part * blocks) / count);
    const to = Math.floor(((part + 1) * blocks) / count);
    return from + Math.floor(Math.random() * (to - from));
  });
}

/**
 * The chance that an absent id passes one of these blocks, from the bits that are set in them: each of its `hashCount` bits is set with the
 * chance that a bit of its block is. Counts of ids say less: of those that pass already, no add counts one.
 */
export function measuredErrorRate(blocks: readonly Uint8Array[], hashCount: number): number {
  if (blocks.length === 0) return 0;
  const rates = blocks.map(
    (block) => (countBits(block.subarray(TAG_BYTES, BLOCK_BYTES)) / BLOCK_DATA_BITS) ** hashCount,
  );
  return rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
}

/** The same of a filter whose blocks are all in memory. */
export function measuredErrorRateOf(bytes: Uint8Array, hashCount: number): number {
  const numbers = sampledBlocks(bytes.length / BLOCK_BYTES);
  const blocks = numbers.map((block) => bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
  return measuredErrorRate(blocks, hashCount);
}
