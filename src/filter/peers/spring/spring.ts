import { bitmapPlanner } from '../bitmap/bitmap-planner.js';
import type { FilterTarget } from '../../filter-target.js';
import type { Geometry } from '../bitmap/geometry.js';
import { checkRedisString } from '../bitmap/redis-string.js';
import { SpringFilter } from './spring-filter.js';
import { SpringLayout, type SpringSettings } from './spring-layout.js';
import { springSize } from './spring-size.js';

/** Filters of the `BloomFilterHelper` that is copied from one Spring project to the next (layout 6). */
export const springCodec = {
  ...bitmapPlanner('spring', springSize),

  /**
   * Bits and hash count that the helper would choose: bits saturate at 2^31 - 1, so that more ids than those hold get more errors
   * without a word.
   *
   * @param target errorRate may be 0, which the helper takes for the smallest double
   * @throws {BloomConfigError} when the helper would divide by zero.
   */
  size(target: FilterTarget): Geometry {
    return springSize(target);
  },

  /** @throws {BloomConfigError} when bits is not from 1 to 2^31 - 1. */
  layout(options: Geometry & SpringSettings): SpringLayout {
    return new SpringLayout(options);
  },

  /**
   * An empty filter, of the size that the helper would choose.
   *
   * @throws {BloomConfigError} when the helper would divide by zero.
   */
  create(options: FilterTarget & SpringSettings): SpringFilter {
    return new SpringFilter(new SpringLayout({ ...options, ...springSize(options) }));
  },

  /** An empty filter of this size. */
  empty(options: Geometry & SpringSettings): SpringFilter {
    return new SpringFilter(new SpringLayout(options));
  },

  /**
   * A filter from the value of its Redis string. Its size is stored nowhere: every side must be given the same numbers.
   *
   * @throws {BloomFormatError} when the value is longer than the filter.
   */
  read(value: Uint8Array, options: FilterTarget & SpringSettings): SpringFilter {
    const layout = new SpringLayout({ ...options, ...springSize(options) });
    checkRedisString(value, layout);
    return new SpringFilter(layout, value.slice());
  },
} as const;
