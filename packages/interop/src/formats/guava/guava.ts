import { bitmapPlanner } from '../bitmap/bitmap-planner.js';
import type { Geometry } from '../bitmap/geometry.js';
import { GuavaFilter } from './guava-filter.js';
import { GuavaLayout, type GuavaSettings } from './guava-layout.js';
import { type GuavaTarget, guavaSize } from './guava-size.js';
import type { GuavaFunnel } from '../java/funnel.js';
import { readGuava } from './read-guava.js';

/** Filters of Google Guava's `BloomFilter` (layout 3). */
export const guavaCodec = {
  ...bitmapPlanner('guava', guavaSize),

  /**
   * Bits and hash count that `BloomFilter.create` would choose.
   *
   * @throws {BloomConfigError} for what Guava refuses too.
   */
  size(target: GuavaTarget): Geometry {
    return guavaSize(target);
  },

  /** @throws {BloomConfigError} when bits is no multiple of 64, or Guava could not hold them. */
  layout(options: Geometry & GuavaSettings): GuavaLayout {
    return new GuavaLayout(options);
  },

  /**
   * An empty filter, as `BloomFilter.create` makes it.
   *
   * @throws {BloomConfigError} for what Guava refuses too.
   */
  create(options: GuavaTarget & GuavaSettings): GuavaFilter {
    return new GuavaFilter(new GuavaLayout({ ...options, ...guavaSize(options) }));
  },

  /** An empty filter of this size. */
  empty(options: Geometry & GuavaSettings): GuavaFilter {
    return new GuavaFilter(new GuavaLayout(options));
  },

  /**
   * A filter from what `BloomFilter.writeTo` wrote. The funnel is not in it: every side must be given the same one.
   *
   * @throws {BloomFormatError} when the dump is cut short, its strategy is unknown, or it has no hashes or no words.
   */
  read(dump: Uint8Array, options: { readonly funnel: GuavaFunnel }): GuavaFilter {
    return readGuava(dump, options.funnel);
  },
} as const;
