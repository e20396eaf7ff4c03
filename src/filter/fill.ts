import { countBits } from './count-bits.js';
import type { Generation } from './generation.js';
import { BLOCK_BYTES, BLOCK_DATA_BITS, TAG_BYTES } from './sizing.js';

/** Blocks that are looked at to know how full a filter is; of a filter that has no more, all. */
const SAMPLED_BLOCKS = 512;
/** Times the error rate that a filter is planned for. */
const CROWDED = 2;

/** What tells the blocks apart. */
type Measured = Pick<Generation, 'hashCount' | 'range'>;

/** Numbers of blocks that stand for all of a filter: one at random in each of equal parts of it. */
export function sampledBlocks({ blocks, range }: Pick<Generation, 'blocks' | 'range'>): number[] {
  if (!range) return sampled(0, blocks, SAMPLED_BLOCKS);
  const some = SAMPLED_BLOCKS / 2;
  return [...sampled(0, range.blocks, some), ...sampled(range.blocks, blocks, some)];
}

function sampled(first: number, end: number, most: number): number[] {
  const count = Math.min(end - first, most);
  return Array.from({ length: count }, (_, part) => {
    const from = first + Math.floor((part * (end - first)) / count);
    const to = first + Math.floor(((part + 1) * (end - first)) / count);
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
 * What the blocks of `sampledBlocks` show. An absent id passes one of them when each of its `hashCount` bits
 * is set, each with the chance that a bit of its block is. Counts of ids say less: of those that pass
 * already, no add counts one. An absent integer of a range never passes: the rate is that of all other ids,
 * the share of bits that of the range.
 */
export function measuredFill(
  numbers: readonly number[],
  blocks: readonly Uint8Array[],
  { hashCount, range }: Measured,
): FilterFill {
  const shares = blocks.map(shareOfBits);
  const hashed = range ? shares.filter((_, i) => numbers[i]! >= range.blocks) : shares;
  const shown = range ? shares.filter((_, i) => numbers[i]! < range.blocks) : shares;
  return { errorRate: mean(hashed.map((share) => share ** hashCount)), fillRatio: mean(shown) };
}

/** The same of a filter whose blocks are all in memory. */
export function measuredFillOf(bytes: Uint8Array, generation: Measured): FilterFill {
  const numbers = sampledBlocks({ ...generation, blocks: bytes.length / BLOCK_BYTES });
  return measuredFill(
    numbers,
    numbers.map((number) => blockAt(bytes, number)),
    generation,
  );
}

/** Whether absent ids pass far more often than planned, whatever counts say. */
export function isCrowded(errorRate: number, planned: number): boolean {
  return errorRate > Math.min(0.9, CROWDED * planned);
}

/** Whether a filter has far more ids outside its range than planned, by all blocks that have them. */
export function isOutgrown(
  { generation, bytes }: { readonly generation: Measured; readonly bytes: Uint8Array },
  errorRate: number,
): boolean {
  const { range, hashCount } = generation;
  if (!range) return false;
  const rates: number[] = [];
  for (let block = range.blocks; block < bytes.length / BLOCK_BYTES; block++)
    rates.push(shareOfBits(blockAt(bytes, block)) ** hashCount);
  return isCrowded(mean(rates), errorRate);
}

/** Share of the bits of several filters that are set, from what was measured of each. */
export function stackFillRatio(fills: readonly FilterFill[], blocks: readonly number[]): number {
  const all = blocks.reduce((sum, count) => sum + count, 0);
  return fills.reduce((sum, { fillRatio }, i) => sum + fillRatio * (blocks[i]! / all), 0);
}

function blockAt(bytes: Uint8Array, number: number): Uint8Array {
  return bytes.subarray(number * BLOCK_BYTES, (number + 1) * BLOCK_BYTES);
}

function shareOfBits(block: Uint8Array): number {
  return countBits(block.subarray(TAG_BYTES, BLOCK_BYTES)) / BLOCK_DATA_BITS;
}

function mean(values: readonly number[]): number {
  if (values.length === 0) return 0;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
