import type { Generation } from './generation.js';
import { HalfSipHash } from './half-sip-hash.js';
import type { IdKey } from './id.js';

/** Parts that a filter may have at most. */
export const MOST_PARTS = 1024;
/** Bytes of a longer id that decide: what an attacker asks for must not take long. */
const HASHED_BYTES = 1024;
/** A part is planned too small with this probability, over all parts of a filter. */
const PROBABILITY = 1e-6;

/**
 * HalfSipHash-1-3 with the fixed key `nestjs-b`. The blocks and bits of a part are found by the same function
 * under a random key of each generation, so they do not depend on the part.
 */
const KEY = [0x7473656e, 0x622d736a] as const;
const hash = new HalfSipHash(...KEY);

/**
 * The part that an id is in: floor(first · parts / 2^32), where `first` are the first 32 bits of the hash. A
 * promise for ever, since what is stored rests on it.
 */
export function partOf(id: IdKey, parts: number): number {
  hash.hash(hashed(id));
  return Math.floor(((hash.first >>> 0) * parts) / 2 ** 32);
}

/** The same of the id of the bytes from `start` to `end`: text in UTF-8, or bytes. */
export function partOfBytes(bytes: Uint8Array, start: number, end: number, parts: number): number {
  hash.hashBytes(bytes, start, Math.min(end, start + HASHED_BYTES));
  return Math.floor(((hash.first >>> 0) * parts) / 2 ** 32);
}

/**
 * A generation in which the number of the block of an id is its part. It is not for ids that are longer than
 * the bytes that decide.
 */
export function generationOfParts(parts: number): Pick<Generation, 'key' | 'blocks' | 'maxIdBytes'> {
  return { key: KEY, blocks: parts, maxIdBytes: HASHED_BYTES };
}

/**
 * Ids that a part is planned for, of a filter of so many ids: the mean, and room for the spread of the hash.
 * The ids of a part follow a binomial distribution. Bernstein's inequality, and the union bound over all
 * parts, give the number that no part exceeds but with a probability of 10^-6.
 */
export function partCapacity(capacity: number, parts: number): number {
  const mean = capacity / parts;
  const variance = mean * (1 - 1 / parts);
  const log = Math.log(parts / PROBABILITY);
  const spread = log / 3 + Math.sqrt((log / 3) ** 2 + 2 * variance * log);
  return Math.max(1, Math.min(capacity, Math.ceil(mean + spread)));
}

/** The first bytes of an id. */
function hashed(id: IdKey): IdKey {
  if (id.length * 3 <= HASHED_BYTES) return id;
  if (typeof id !== 'string') return id.subarray(0, HASHED_BYTES);
  // One character more than there are bytes, so that a pair of surrogates is not cut before the last byte.
  return Buffer.from(id.slice(0, HASHED_BYTES + 1)).subarray(0, HASHED_BYTES);
}
