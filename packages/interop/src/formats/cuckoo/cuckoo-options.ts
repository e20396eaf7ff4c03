import { checkOptions, type OptionNames } from 'nestjs-bloom/internal';
import { type CuckooTarget, cuckooSize } from './cuckoo-size.js';

/** A filter from which ids can be removed, in the form of `CF.*`. Its size comes from `capacity` and `errorRate` of the filter. */
export type CuckooLayoutOptions = Omit<CuckooTarget, 'capacity'>;

const OPTIONS = {
  bucketSize: true,
  maxIterations: true,
  expansion: true,
} satisfies OptionNames<CuckooLayoutOptions>;

/** @throws {BloomConfigError} for a layout that `CF.RESERVE` cannot make. */
export function checkCuckooOptions(options: CuckooLayoutOptions): void {
  checkOptions(options, { where: 'cuckoo()', known: OPTIONS });
  const { bucketSize = 1, maxIterations, expansion } = options;
  cuckooSize({ capacity: 2 * bucketSize, bucketSize, maxIterations, expansion });
}
