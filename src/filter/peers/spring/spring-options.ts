import { checkOptionNames } from '../../layout-options.js';
import { BloomConfigError, printed } from '../../../common/index.js';
import {
  checkForeignOptions,
  checkForeignKey,
  checkStoredBits,
  type ForeignKeyOptions,
} from '../options/key-options.js';
import type { Demand } from '../../demand.js';
import type { Geometry } from '../bitmap/geometry.js';
import { checkFunnel } from '../java/funnel.js';
import { SpringLayout, type SpringFunnel } from './spring-layout.js';
import { springSize } from './spring-size.js';

/** A filter of the Spring `BloomFilterHelper` on the very key that the helper's user uses. */
export type SpringLayoutOptions = ForeignKeyOptions & {
  readonly key: string;
  /** Default `putStringTwice`. */
  readonly funnel?: SpringFunnel | undefined;
} & (Demand | Geometry);

const OPTIONS = ['key', 'funnel', 'capacity', 'errorRate', 'bits', 'hashCount', 'foreignAdds', 'adopt'];

/**
 * The size that every side comes to: of the helper's `expectedInsertions` and `fpp`, or as it is given.
 *
 * @throws {BloomConfigError} when the helper would have none.
 */
export function springSizeOf(options: SpringLayoutOptions): Geometry {
  return 'capacity' in options ? springSize(options) : { bits: options.bits, hashCount: options.hashCount };
}

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkSpringOptions(options: SpringLayoutOptions): void {
  checkOptionNames('spring', options, OPTIONS);
  checkForeignKey('key', options.key);
  checkForeignOptions(options);
  if (options.funnel !== 'putStringTwice') checkFunnel(options.funnel ?? 'stringFunnel');
  const isPlanned = 'capacity' in options || 'errorRate' in options;
  const isGiven = 'bits' in options || 'hashCount' in options;
  if (isPlanned === isGiven) {
    throw new BloomConfigError(
      `Expected layout to have capacity and errorRate as given to the helper, or bits and hashCount, got ${printed(options)}.`,
    );
  }
  const size = springSizeOf(options);
  checkStoredBits(size.bits);
  new SpringLayout({ ...size, funnel: options.funnel });
}
