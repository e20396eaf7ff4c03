import { BloomConfigError } from '../../../common/index.js';
import { checkOptionNames, expecterOf } from '../../layout-options.js';
import {
  checkKeyOptions,
  checkPeersKey,
  checkStoredBits,
  type PeerKeyOptions,
} from '../options/key-options.js';
import { noSize } from '../options/options.messages.js';
import type { FilterTarget } from '../../filter-target.js';
import type { Geometry } from '../bitmap/geometry.js';
import { checkFunnel } from '../java/funnel.js';
import { SpringLayout, type SpringFunnel } from './spring-layout.js';
import { springSize } from './spring-size.js';

/** A filter of the Spring `BloomFilterHelper` on the very key that the helper's user uses. */
export type SpringLayoutOptions = PeerKeyOptions & {
  readonly key: string;
  /** Default `putStringTwice`. */
  readonly funnel?: SpringFunnel | undefined;
} & (FilterTarget | Geometry);

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
  const expect = expecterOf('spring');
  checkPeersKey(expect, 'key', options.key);
  checkKeyOptions(expect, options);
  if (options.funnel !== 'putStringTwice') checkFunnel(expect, options.funnel ?? 'stringFunnel');
  const isPlanned = 'capacity' in options || 'errorRate' in options;
  const isGiven = 'bits' in options || 'hashCount' in options;
  if (isPlanned === isGiven) throw new BloomConfigError(noSize('spring', options));
  const size = springSizeOf(options);
  checkStoredBits(expect, size.bits);
  new SpringLayout({ ...size, funnel: options.funnel });
}
