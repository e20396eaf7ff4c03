import { BloomConfigError } from '../../../common/index.js';
import { checkInteger, type FilterTarget } from '../../filter-target.js';
import type { Geometry } from '../bitmap/geometry.js';
import { optimalBits, optimalHashCount } from '../java/optimal-bits.js';
import { SPRING_MAX_BITS } from './spring-layout.js';
import { wrongErrorRate, tooSmall } from './spring.messages.js';

/** The helper takes the number of ids as a Java int. */
const MAX_CAPACITY = 2 ** 31 - 1;

/**
 * Bits and hash count that the helper would choose: bits saturate at 2^31 - 1, so that more ids than those hold get more
 * errors without a word.
 *
 * @param target errorRate may be 0, which the helper takes for the smallest double
 * @throws {BloomConfigError} when the helper would divide by zero.
 */
export function springSize({ capacity, errorRate }: FilterTarget): Geometry {
  checkInteger('capacity', capacity, { min: 1, max: MAX_CAPACITY });
  if (!(errorRate >= 0 && errorRate < 1)) {
    throw new BloomConfigError(wrongErrorRate(errorRate));
  }
  const bits = Math.min(optimalBits(capacity, errorRate || Number.MIN_VALUE), SPRING_MAX_BITS);
  if (bits < 1) {
    throw new BloomConfigError(tooSmall(capacity, errorRate));
  }
  return { bits, hashCount: optimalHashCount(capacity, bits) };
}
