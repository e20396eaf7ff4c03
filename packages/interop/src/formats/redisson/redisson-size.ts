import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { checkInteger } from 'nestjs-bloom/internal';
import type { Geometry } from '../bitmap/geometry.js';
import { optimalBits, optimalHashCount } from '../java/optimal-bits.js';
import { REDISSON_MAX_BITS } from './redisson-layout.js';
import { wrongRedissonErrorRate, wrongRedissonSize } from '../peers.messages.js';

/**
 * Bits (`size`) and hash count (`hashIterations`) that `tryInit` would choose.
 *
 * @param target errorRate may be 0, which Redisson takes for the smallest double
 * @throws {BloomConfigError} for what Redisson refuses too.
 */
export function redissonSize({ capacity, errorRate }: FilterTarget): Geometry {
  checkInteger('capacity', capacity, { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (!(errorRate >= 0 && errorRate <= 1)) {
    throw new BloomConfigError(wrongRedissonErrorRate(errorRate));
  }
  const bits = optimalBits(capacity, errorRate || Number.MIN_VALUE);
  if (bits < 1 || bits > REDISSON_MAX_BITS) {
    throw new BloomConfigError(wrongRedissonSize(REDISSON_MAX_BITS, bits, capacity, errorRate));
  }
  return { bits, hashCount: optimalHashCount(capacity, bits) };
}
