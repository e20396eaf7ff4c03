import { type CuckooDemand, cuckooSize } from './cuckoo-size.js';

/** A filter from which ids can be removed, in the form of `CF.*`. Its size comes from `capacity` and `errorRate` of the filter. */
export interface CuckooStoredLayout extends Omit<CuckooDemand, 'capacity'> {
  readonly kind: 'cuckoo';
}

/** @throws {BloomConfigError} for a layout that `CF.RESERVE` cannot make. */
export function checkCuckooLayout({ bucketSize, maxIterations, expansion }: CuckooStoredLayout): void {
  cuckooSize({ capacity: 2 * (bucketSize ?? 1), bucketSize: bucketSize ?? 1, maxIterations, expansion });
}
