import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { checkTarget } from 'nestjs-bloom/internal';
import type { Geometry } from '../bitmap/geometry.js';
import { MAX_STRING_BITS } from '../options/string-bits.js';
import { naturalLogarithm } from '../java/logarithm.js';
import { optimalBits, optimalHashCount } from '../java/optimal-bits.js';
import { GUAVA_HEADER_BYTES } from './guava-filter.js';
import { GUAVA_MAX_HASH_COUNT, GUAVA_MAX_WORDS, WORD_BITS } from './guava-layout.js';
import { tooLargeForRedis, wrongGuavaSize } from '../peers.messages.js';

/** What a filter of Guava is planned for. */
export interface GuavaTarget extends FilterTarget {
  /** From 0; Guava takes 0 for 1. */
  readonly capacity: number;
  /**
   * How Guava comes to the number of hashes: from the error rate as 33.7.1 does (default), or from the bits as releases up to
   * 32.0.1 at least do. They differ for very few ids, and otherwise where the number is next to a half.
   */
  readonly hashCountFrom?: 'error-rate' | 'bits' | undefined;
}

/**
 * Bits and hash count that `BloomFilter.create` would choose.
 *
 * @throws {BloomConfigError} for what Guava refuses too.
 */
export function guavaSize(target: GuavaTarget): Geometry {
  checkTarget(target, 0);
  const { errorRate, hashCountFrom = 'error-rate' } = target;
  const capacity = Math.max(1, target.capacity);
  const optimal = optimalBits(capacity, errorRate);
  const hashCount =
    hashCountFrom === 'bits'
      ? optimalHashCount(capacity, optimal)
      : Math.max(1, Math.round(-naturalLogarithm(errorRate) / Math.LN2));
  const words = Math.ceil(optimal / WORD_BITS);
  if (words < 1 || words > GUAVA_MAX_WORDS || hashCount > GUAVA_MAX_HASH_COUNT) {
    throw new BloomConfigError(
      wrongGuavaSize(GUAVA_MAX_HASH_COUNT, optimal, hashCount, target.capacity, errorRate),
    );
  }
  return { bits: words * WORD_BITS, hashCount };
}

/**
 * Bytes of the filter in a string of Redis, without its head.
 *
 * @throws {BloomConfigError} for a size that Guava refuses, and for one that with its head exceeds a string of Redis.
 */
export function guavaStringBytes(target: FilterTarget): number {
  const bytes = guavaSize(target).bits / 8;
  const most = MAX_STRING_BITS / 8 - GUAVA_HEADER_BYTES;
  if (bytes <= most) return bytes;
  throw new BloomConfigError(tooLargeForRedis(most, bytes, target.capacity, target.errorRate));
}
