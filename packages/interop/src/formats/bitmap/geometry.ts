import { checkInteger } from 'nestjs-bloom/internal';
import { MAX_MODULUS } from './modulus.js';

/** The smallest positive double as an error rate makes peers use 1,075 hashes; none can ask for more. */
export const MAX_HASH_COUNT = 1_100;

/** The size of a filter whose bits are one row. */
export interface Geometry {
  /** Bits of the filter: what the hashes are taken modulo of. */
  readonly bits: number;
  /** Bits set for an id (k). */
  readonly hashCount: number;
}

/** @throws {BloomConfigError} */
export function checkGeometry({ bits, hashCount }: Geometry): void {
  checkInteger('bits', bits, { min: 1, max: MAX_MODULUS });
  checkInteger('hashCount', hashCount, { min: 1, max: MAX_HASH_COUNT });
}
