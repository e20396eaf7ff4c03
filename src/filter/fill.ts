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

/** How full a filter is, from the bits that are set. */
export interface FilterFill {
  /** Share of absent ids that pass. */
  readonly errorRate: number;
  /** Share of the bits that are set. */
  readonly fillRatio: number;
}

/**
 * What these blocks show. An absent id passes one of them when each of its `hashCount` bits is set, each with
 * the chance that a bit of its block is. Counts of ids say less: of those that pass already, no add counts
 * one.
 */
export function measuredFill(blocks: readonly Uint8Array[], hashCount: number): FilterFill {
  if (blocks.length === 0) return { errorRate: 0, fillRatio: 0 };
  const shares = blocks.map((block) => countBits(block.subarray(TAG_BYTES, BLOCK_BYTES)) / BLOCK_DATA_BITS);
  return { errorRate: mean(shares.map((share) => share ** hashCount)), fillRatio: mean(shares) };
}

/** The same of a filter whose blocks are all in memory. */
export function measuredFillOf(bytes: Uint8Array, hashCount: number): FilterFill {
  const numbers = sampledBlocks(bytes.length / BLOCK_BYTES);
  const blocks = numbers.map((block) => bytes.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
  return measuredFill(blocks, hashCount);
}

/** Share of the bits of several filters that are set, from what was measured of each. */
export function stackFillRatio(fills: readonly FilterFill[], blocks: readonly number[]): number {
  const all = blocks.reduce((sum, count) => sum + count, 0);
  return fills.reduce((sum, { fillRatio }, i) => sum + fillRatio * (blocks[i]! / all), 0);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
