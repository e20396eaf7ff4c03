import { randomBytes } from 'node:crypto';
import { BloomConfigError } from '../common/index.js';
import { MAX_ID_BYTES_LIMIT } from './id.js';
import type { FilterPlan } from './sizing.js';
import { wrongMaxIdBytes } from './filter.messages.js';

/** The number under which layout `blocked` is stored. */
export const BLOCKED_LAYOUT = 1;
/** The number under which layout `exact` is stored. */
export const EXACT_LAYOUT = 8;

/** One build of a filter: everything that decides where an id's bits are. Replaced whole by a rebuild. */
export interface Generation {
  /** `EXACT_LAYOUT` if and only if there is a range. */
  readonly layout: typeof BLOCKED_LAYOUT | typeof EXACT_LAYOUT;
  /** 32 random bits, never 0, at the head of every block. */
  readonly tag: number;
  /** The 64-bit hash key as two unsigned halves. */
  readonly key: readonly [number, number];
  /** All blocks, those of the range included. */
  readonly blocks: number;
  /** Bits set for an id that is hashed (k). */
  readonly hashCount: number;
  /** An id of more bytes is never in the filter. */
  readonly maxIdBytes: number;
  /** Integers that have a bit each. Undefined: every id is hashed. */
  readonly range?: GenerationRange | undefined;
}

/** Consecutive integers, 2,016 in each of the first blocks of a generation. */
export interface GenerationRange {
  /** A safe integer. */
  readonly first: number;
  /** How many blocks they have. */
  readonly blocks: number;
}

/** What decides the size of a generation. */
export type GenerationPlan = Pick<FilterPlan, 'blocks' | 'hashCount'> & Pick<Generation, 'range'>;

/** A generation of the planned size with a random key and tag. */
export function createGeneration(plan: GenerationPlan, maxIdBytes = 1024): Generation {
  if (!Number.isSafeInteger(maxIdBytes) || maxIdBytes < 1 || maxIdBytes > MAX_ID_BYTES_LIMIT) {
    throw new BloomConfigError(wrongMaxIdBytes(MAX_ID_BYTES_LIMIT, maxIdBytes));
  }
  const random = randomBytes(12);
  const { blocks, hashCount, range } = plan;
  return {
    layout: range ? EXACT_LAYOUT : BLOCKED_LAYOUT,
    tag: random.readUInt32LE(0) || 1,
    key: [random.readUInt32LE(4), random.readUInt32LE(8)],
    blocks,
    hashCount,
    maxIdBytes,
    ...(range && { range }),
  };
}
