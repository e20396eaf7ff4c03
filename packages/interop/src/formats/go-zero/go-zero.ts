import type { FilterTarget } from 'nestjs-bloom/filter';
import { bitmapPlanner } from '../bitmap/bitmap-planner.js';
import type { Geometry } from '../bitmap/geometry.js';
import { checkRedisString } from '../bitmap/redis-string.js';
import { GoZeroFilter } from './go-zero-filter.js';
import { GoZeroLayout } from './go-zero-layout.js';
import { goZeroSize } from './go-zero-size.js';

/** go-zero stores nothing but the bits: every side must be given the same number of them. */
export interface GoZeroOptions {
  /** As given to `bloom.New`; go-zero recommends 20 an id. Redis holds up to 2^32. */
  readonly bits: number;
}

/** Filters of go-zero's `core/bloom` (layout 2). */
export const goZeroCodec = {
  ...bitmapPlanner('go-zero', goZeroSize),

  /**
   * The fewest bits that keep an error rate with go-zero's 14 hashes. go-zero itself has no formula, it recommends 20 bits an id.
   *
   * @throws {BloomConfigError} when they are more than the 2^32 that Redis holds.
   */
  size(target: FilterTarget): Geometry {
    return goZeroSize(target);
  },

  /** @throws {BloomConfigError} when bits is no positive integer. */
  layout(options: GoZeroOptions): GoZeroLayout {
    return new GoZeroLayout(options);
  },

  /** An empty filter. */
  create(options: GoZeroOptions): GoZeroFilter {
    return new GoZeroFilter(new GoZeroLayout(options));
  },

  /**
   * A filter from the value of its Redis string.
   *
   * @throws {BloomFormatError} when the value is longer than the filter.
   */
  read(value: Uint8Array, options: GoZeroOptions): GoZeroFilter {
    const layout = new GoZeroLayout(options);
    checkRedisString(value, layout);
    return new GoZeroFilter(layout, value.slice());
  },
} as const;
