import { BloomConfigError } from 'nestjs-bloom/filter';
import { checkInteger } from 'nestjs-bloom/internal';
import { wrongBuckets } from '../peers.messages.js';

/** The arguments of `CF.RESERVE`. */
export interface CuckooTarget {
  /** Fingerprints that the first table has room for; the number of buckets is rounded up to a power of two. Default 1024. */
  readonly capacity?: number | undefined;
  /** Fingerprints in a bucket, 1 to 255. Default 2. */
  readonly bucketSize?: number | undefined;
  /** Fingerprints that one `add` moves before the filter grows. Default 20. */
  readonly maxIterations?: number | undefined;
  /** Buckets of a further table, as a multiple of the last one's; rounded up to a power of two. 0: does not grow. Default 1. */
  readonly expansion?: number | undefined;
}

/** The size of one table. */
export interface CuckooGeometry {
  /** A power of two. */
  readonly buckets: number;
  readonly bucketSize: number;
}

/** How a filter begins and grows. */
export interface CuckooSettings extends CuckooGeometry {
  /** Of the first table. */
  readonly buckets: number;
  readonly maxIterations: number;
  readonly expansion: number;
}

/** Redis adds nothing to a filter of this many tables (`bf.cf-max-expansions`). */
export const MAX_TABLES = 32;
export const MAX_BUCKET_SIZE = 255;
const MAX_ITERATIONS = 65_535;
export const MAX_EXPANSION = 32_768;
/** 4 GiB, a byte for each fingerprint. */
export const MAX_TABLE_BYTES = 2 ** 32;
export const MAX_CAPACITY = 2 ** 30;

/**
 * What `CF.RESERVE` makes of its arguments.
 *
 * @throws {BloomConfigError} for what Redis 8 refuses too.
 */
export function cuckooSize(target: CuckooTarget): CuckooSettings {
  const { capacity = 1024, bucketSize = 2, maxIterations = 20, expansion = 1 } = target;
  checkInteger('bucketSize', bucketSize, { min: 1, max: MAX_BUCKET_SIZE });
  checkInteger('maxIterations', maxIterations, { min: 1, max: MAX_ITERATIONS });
  checkInteger('expansion', expansion, { min: 0, max: MAX_EXPANSION });
  checkInteger('capacity (of a cuckoo filter, twice its bucketSize at least)', capacity, {
    min: 2 * bucketSize,
    max: MAX_CAPACITY,
  });
  return {
    buckets: nextPowerOfTwo(Math.floor(capacity / bucketSize)),
    bucketSize,
    maxIterations,
    expansion: expansion === 0 ? 0 : nextPowerOfTwo(expansion),
  };
}

/** Buckets of table `index`, counted from 0. */
export function bucketsOf({ buckets, expansion }: CuckooSettings, index: number): number {
  return buckets * expansion ** index;
}

/** @throws {BloomConfigError} when a process cannot hold a table of this size. */
export function checkCuckooGeometry({ buckets, bucketSize }: CuckooGeometry): void {
  checkInteger('bucketSize', bucketSize, { min: 1, max: MAX_BUCKET_SIZE });
  checkInteger('buckets', buckets, { min: 1, max: MAX_TABLE_BYTES });
  if (isPowerOfTwo(buckets)) return;
  throw new BloomConfigError(wrongBuckets(buckets));
}

export function isPowerOfTwo(value: number): boolean {
  return value >= 1 && nextPowerOfTwo(value) === value;
}

/** @param value at least 1 */
function nextPowerOfTwo(value: number): number {
  let power = 1;
  while (power < value) power *= 2;
  return power;
}
