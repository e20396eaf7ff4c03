import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { checkTarget, falsePositiveRate } from 'nestjs-bloom/internal';
import type { Geometry } from '../bitmap/geometry.js';
import { MAX_STRING_BITS } from '../options/string-bits.js';
import { GO_ZERO_HASH_COUNT } from './go-zero-layout.js';
import { goZeroTooLarge } from '../peers.messages.js';

/**
 * The fewest bits that keep an error rate with go-zero's 14 hashes. go-zero itself has no formula, it recommends 20 bits an id.
 *
 * @throws {BloomConfigError} when they are more than the 2^32 that Redis holds.
 */
export function goZeroSize(target: FilterTarget): Geometry {
  checkTarget(target);
  const { capacity: ids, errorRate } = target;
  const hashCount = GO_ZERO_HASH_COUNT;
  let tooFew = 0;
  let bits = MAX_STRING_BITS;
  if (!(falsePositiveRate({ bits, hashCount, ids }) <= errorRate)) {
    throw new BloomConfigError(goZeroTooLarge(MAX_STRING_BITS, ids, errorRate));
  }
  while (bits - tooFew > 1) {
    const middle = Math.floor((tooFew + bits) / 2);
    if (falsePositiveRate({ bits: middle, hashCount, ids }) <= errorRate) bits = middle;
    else tooFew = middle;
  }
  return { bits, hashCount };
}
