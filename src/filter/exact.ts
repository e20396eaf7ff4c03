import { createGeneration, type Generation, type GenerationPlan } from './generation.js';
import type { FilterTarget } from './filter-target.js';
import { planFilter } from './plan.js';
import { BLOCK_DATA_BITS, MAX_BLOCKS, planBlocked } from './sizing.js';

/** Integers for each id behind the range that has room at the error rate: ids that were not expected. */
const INTEGERS_PER_OTHER_ID = 512;
/** Room for so many in any case. */
const LEAST_OTHER_IDS = 64;

/** Consecutive integers that are to have a bit each. */
export interface IntegerRange {
  /** A safe integer, as the last one is. */
  readonly first: number;
  readonly integers: number;
}

/** The blocks of a range, and those for all other ids; undefined if they are more than a filter may have. */
export function planExact(range: IntegerRange, errorRate: number): GenerationPlan | undefined {
  const { first, integers } = range;
  const blocks = Math.ceil(integers / BLOCK_DATA_BITS);
  const last = first + blocks * BLOCK_DATA_BITS - 1;
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || blocks > MAX_BLOCKS) return undefined;
  const capacity = Math.max(LEAST_OTHER_IDS, Math.ceil(integers / INTEGERS_PER_OTHER_ID));
  const others = planBlocked({ capacity, errorRate });
  const all = blocks + others.blocks;
  return all > MAX_BLOCKS
    ? undefined
    : { blocks: all, hashCount: others.hashCount, range: { first, blocks } };
}

/** What a build plans its generation by. */
export interface PlannedGeneration extends FilterTarget {
  readonly maxIdBytes: number;
  /** Left out: every id is hashed. */
  readonly range?: IntegerRange | undefined;
}

/** A generation of layout `exact` where a range is planned that a filter may have, else of `blocked`. */
export function generationOf({ range, maxIdBytes, ...target }: PlannedGeneration): Generation {
  const exact = range && planExact(range, target.errorRate);
  return createGeneration(exact ?? planFilter(target), maxIdBytes);
}
