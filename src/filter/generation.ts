import { randomBytes } from 'node:crypto';
import { BloomConfigError } from '../common/index.js';
import { MAX_ID_BYTES_LIMIT } from './id.js';
import type { FilterPlan } from './sizing.js';
import { wrongMaxIdBytes } from './filter.messages.js';

/** The number under which layout `blocked` is stored. */
export const BLOCKED_LAYOUT = 1;

/** One build of a filter: everything that decides where an id's bits are. Replaced whole by a rebuild. */
export interface Generation {
  readonly layout: typeof BLOCKED_LAYOUT;
  /** 32 random bits, never 0, at the head of every block. */
  readonly tag: number;
  /** The 64-bit hash key as two unsigned halves. */
  readonly key: readonly [number, number];
  readonly blocks: number;
  /** Bits set for an id (k). */
  readonly hashCount: number;
  /** An id of more bytes is never in the filter. */
  readonly maxIdBytes: number;
}

/** A generation of the planned size with a random key and tag. */
export function createGeneration(plan: FilterPlan, maxIdBytes = 1024): Generation {
  if (!Number.isSafeInteger(maxIdBytes) || maxIdBytes < 1 || maxIdBytes > MAX_ID_BYTES_LIMIT) {
    throw new BloomConfigError(wrongMaxIdBytes(MAX_ID_BYTES_LIMIT, maxIdBytes));
  }
  const random = randomBytes(12);
  return {
    layout: BLOCKED_LAYOUT,
    tag: random.readUInt32LE(0) || 1,
    key: [random.readUInt32LE(4), random.readUInt32LE(8)],
    blocks: plan.blocks,
    hashCount: plan.hashCount,
    maxIdBytes,
  };
}
