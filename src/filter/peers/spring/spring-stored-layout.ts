import { BloomConfigError, printed } from '../../../common/index.js';
import {
  checkForeignOptions,
  checkForeignKey,
  checkStoredBits,
  type ForeignKeyOptions,
} from '../bits/foreign-key.js';
import type { Demand, Geometry } from '../bits/geometry.js';
import { checkFunnel } from '../guava/funnel.js';
import { SpringLayout, type SpringFunnel } from './spring-layout.js';
import { springSize } from './spring-size.js';

/** A filter of the Spring `BloomFilterHelper` on the very key that the helper's user uses. */
export type SpringStoredLayout = ForeignKeyOptions & {
  readonly kind: 'spring';
  readonly key: string;
  /** Default `putStringTwice`. */
  readonly funnel?: SpringFunnel | undefined;
} & (Demand | Geometry);

/**
 * The size that every side comes to: of the helper's `expectedInsertions` and `fpp`, or as it is given.
 *
 * @throws {BloomConfigError} when the helper would have none.
 */
export function springStoredSize(layout: SpringStoredLayout): Geometry {
  return 'capacity' in layout ? springSize(layout) : { bits: layout.bits, hashCount: layout.hashCount };
}

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkSpringLayout(layout: SpringStoredLayout): void {
  checkForeignKey('key', layout.key);
  checkForeignOptions(layout);
  if (layout.funnel !== 'putStringTwice') checkFunnel(layout.funnel ?? 'stringFunnel');
  if (!('capacity' in layout) && !('bits' in layout)) {
    throw new BloomConfigError(
      `Expected layout to have capacity and errorRate as given to the helper, or bits and hashCount, got ${printed(layout)}.`,
    );
  }
  const size = springStoredSize(layout);
  checkStoredBits(size.bits);
  new SpringLayout({ ...size, funnel: layout.funnel });
}
