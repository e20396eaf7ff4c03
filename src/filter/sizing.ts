import { BloomConfigError } from '../common/index.js';
import { falsePositiveRate } from './error-model.js';
import { wrongCapacity, wrongErrorRateToPlan, tooLarge } from './filter.messages.js';

/** A block is what one lookup reads. */
export const BLOCK_BYTES = 256;
/** The first bytes of every block hold the tag of its generation. */
export const TAG_BYTES = 4;
/** Bits of a block that hold ids. */
export const BLOCK_DATA_BITS = (BLOCK_BYTES - TAG_BYTES) * 8;
/** 4 GiB: 4,096 segments of 1 MiB. */
export const MAX_BLOCKS = 2 ** 24;

const MAX_HASH_COUNT = 24;
/**
 * A block of more ids has hardly a bit that is 0, even with one bit for an id: (1 - 1/2016)^100,000 < 1e-21.
 */
const FULL_BLOCK_IDS = 100_000;
/** The lowest error rate of a blocked filter. */
export const MIN_ERROR_RATE = 1e-6;
const MAX_ERROR_RATE = 0.5;
/**
 * The chance of one key deals the blocks of one filter a little better or worse than the model: room for it.
 */
const PLANNING_MARGIN = 0.98;

/** The size of a filter of this library's own layout. */
export interface FilterPlan {
  /** Ids the filter holds at its error rate. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe" that was asked for. */
  readonly errorRate: number;
  /** The same as the model gives it at capacity: below `errorRate`. */
  readonly modelledErrorRate: number;
  /** Bits set for an id (k). */
  readonly hashCount: number;
  /** How many blocks it has. */
  readonly blocks: number;
  /** Its size. */
  readonly bytes: number;
  /** Bits for each id of `capacity`. */
  readonly bitsPerId: number;
}

/**
 * The smallest blocked filter whose modelled error rate at capacity is at most 0.98 of `errorRate`.
 *
 * @throws {BloomConfigError} when the capacity is not a positive integer, the error rate is not within
 * 0.000001 and 0.5, or the filter would exceed 4 GiB.
 */
export function planBlocked(options: { capacity: number; errorRate: number }): FilterPlan {
  const { capacity, errorRate } = options;
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new BloomConfigError(wrongCapacity(capacity));
  }
  if (!(errorRate >= MIN_ERROR_RATE && errorRate <= MAX_ERROR_RATE)) {
    throw new BloomConfigError(wrongErrorRateToPlan(MIN_ERROR_RATE, MAX_ERROR_RATE, errorRate));
  }
  const { hashCount, idsPerBlock } = densestBlockFor(errorRate * PLANNING_MARGIN);
  const blocks = Math.ceil(capacity / idsPerBlock);
  if (blocks > MAX_BLOCKS) {
    throw new BloomConfigError(tooLarge(capacity, errorRate, blocks * BLOCK_BYTES, MAX_BLOCKS * BLOCK_BYTES));
  }
  return {
    capacity,
    errorRate,
    modelledErrorRate: modelledErrorRate({ hashCount, idsPerBlock: capacity / blocks }),
    hashCount,
    blocks,
    bytes: blocks * BLOCK_BYTES,
    bitsPerId: (blocks * BLOCK_BYTES * 8) / capacity,
  };
}

/**
 * Error rate of a blocked filter whose blocks hold `idsPerBlock` ids on average.
 *
 * The ids of one block are Poisson distributed (F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and
 * Space-Efficient Bloom Filters", 2007). An absent id also passes when its 32 bits within the block are those
 * of a present one.
 */
export function modelledErrorRate(options: { hashCount: number; idsPerBlock: number }): number {
  const { hashCount: k, idsPerBlock } = options;
  const b = BLOCK_DATA_BITS;
  if (idsPerBlock > FULL_BLOCK_IDS) return 1;
  const last = Math.ceil(idsPerBlock + 12 * Math.sqrt(idsPerBlock) + 20);
  // Logarithms: the probability of an empty block is below the smallest double for blocks of over 745 ids.
  let logProbability = -idsPerBlock;
  let errorRate = 0;
  for (let x = 1; x <= last; x++) {
    logProbability += Math.log(idsPerBlock / x);
    const probability = Math.exp(logProbability);
    if (probability === 0) continue;
    errorRate += probability * falsePositiveRate({ bits: b, hashCount: k, ids: x });
  }
  return errorRate + idsPerBlock / 2 ** 32;
}

interface DensestBlock {
  readonly hashCount: number;
  readonly idsPerBlock: number;
}

/**
 * An application plans for few error rates, but again with each look at the metadata; the search takes some
 * milliseconds.
 */
const MAX_REMEMBERED = 64;
const remembered = new Map<number, DensestBlock>();

function densestBlockFor(errorRate: number): DensestBlock {
  const known = remembered.get(errorRate);
  if (known) return known;
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  const found = densestBlock(errorRate);
  remembered.set(errorRate, found);
  return found;
}

/** The hash count that lets a block hold the most ids at this error rate, and how many those are. */
function densestBlock(errorRate: number): DensestBlock {
  // The likely ones first: the others are then seen to be worse by one look at the model.
  const likely = -Math.log2(errorRate);
  const hashCounts = Array.from({ length: MAX_HASH_COUNT }, (_, i) => i + 1).toSorted(
    (one, other) => Math.abs(one - likely) - Math.abs(other - likely),
  );
  let best = { hashCount: 1, idsPerBlock: 0 };
  for (const hashCount of hashCounts) {
    // Were all blocks equally full, a block could hold this many. They are not, so it holds fewer, or, at
    // error rates above a quarter, less than a hundredth more.
    let high =
      (1.01 * Math.log1p(-(errorRate ** (1 / hashCount)))) / (hashCount * Math.log1p(-1 / BLOCK_DATA_BITS));
    if (high <= best.idsPerBlock) continue;
    const isWorse =
      best.idsPerBlock > 0 && modelledErrorRate({ hashCount, idsPerBlock: best.idsPerBlock }) > errorRate;
    if (isWorse) continue;
    let low = 0;
    while (high - low > high * 1e-7) {
      const middle = (low + high) / 2;
      if (modelledErrorRate({ hashCount, idsPerBlock: middle }) <= errorRate) low = middle;
      else high = middle;
    }
    if (low > best.idsPerBlock) best = { hashCount, idsPerBlock: low };
  }
  return best;
}
