import { BloomConfigError, type FilterTarget } from 'nestjs-bloom/filter';
import { checkInteger, wrongErrorRate } from 'nestjs-bloom/internal';
import type { Geometry } from '../bitmap/geometry.js';
import { naturalLogarithm } from '../java/logarithm.js';
import { scalesAndDoesNot } from '../peers.messages.js';

// RedisBloom's own, cut off: with all digits, the hash count of error rates such as 0.25 would be one less.
const LN2 = 0.693147180559945;
const LN2_SQUARED = 0.480453013918201;

/** Redis 8 takes a higher error rate for this one. */
const MAX_ERROR_RATE = 0.25;
const MAX_CAPACITY = 2 ** 30;
const MAX_EXPANSION = 32_768;
const DEFAULT_EXPANSION = 2;
const TIGHTENING = 0.5;

/** The arguments of `BF.RESERVE`. */
export interface RedisBloomTarget extends FilterTarget {
  /** Ids of a further link, as a multiple of the last one's; 0 is `nonScaling`. Default 2. */
  readonly expansion?: number | undefined;
  /** Holds `capacity` ids and takes no more, instead of growing by links. */
  readonly nonScaling?: boolean | undefined;
  /** Error rates above this are taken for it: 0.25, as Redis 8 does (default), or 1, as RedisBloom 2.8 does. */
  readonly maxErrorRate?: number | undefined;
}

/** One link of a chain. */
export interface LinkTarget extends FilterTarget {
  /** The error rate of this link alone. */
  readonly errorRate: number;
}

/** The size of one link of a chain. */
export interface LinkGeometry extends Geometry {
  readonly bitsPerId: number;
}

/** How a chain begins and grows. */
export interface ChainSettings {
  readonly expansion: number;
  readonly nonScaling: boolean;
}

/**
 * What `BF.RESERVE` makes of its arguments.
 *
 * @throws {BloomConfigError} for what Redis 8 refuses too.
 */
export function chainOf(target: RedisBloomTarget): ChainSettings & { first: LinkTarget } {
  const { capacity, errorRate, maxErrorRate = MAX_ERROR_RATE } = target;
  checkInteger('capacity', capacity, { min: 1, max: MAX_CAPACITY });
  checkInteger('expansion', target.expansion ?? 0, { min: 0, max: MAX_EXPANSION });
  if (target.nonScaling && target.expansion) {
    throw new BloomConfigError(scalesAndDoesNot(target.expansion));
  }
  const nonScaling = target.nonScaling === true || target.expansion === 0;
  const ofFirst = Math.min(errorRate, maxErrorRate) * (nonScaling ? 1 : TIGHTENING);
  if (!(errorRate < 1 && ofFirst > 0)) {
    throw new BloomConfigError(wrongErrorRate(errorRate));
  }
  return {
    expansion: target.expansion ?? DEFAULT_EXPANSION,
    nonScaling,
    first: { capacity, errorRate: ofFirst },
  };
}

/** The link after one of these. */
export function nextLink(last: LinkTarget, expansion: number): LinkTarget {
  return { capacity: last.capacity * expansion, errorRate: last.errorRate * TIGHTENING };
}

/** Bits and hash count of one link. */
export function linkSize({ capacity, errorRate }: LinkTarget): LinkGeometry {
  const bitsPerId = -(naturalLogarithm(errorRate) / LN2_SQUARED);
  const words = Math.ceil(Math.max(1, Math.trunc(capacity * bitsPerId)) / 64);
  return { bits: words * 64, hashCount: hashCountOf(bitsPerId), bitsPerId };
}

export function hashCountOf(bitsPerId: number): number {
  return Math.ceil(LN2 * bitsPerId);
}
