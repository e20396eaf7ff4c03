import { BloomConfigError } from '../common/index.js';
import { noExactPlace } from './sources.messages.js';

/**
 * A value by which the next page begins.
 *
 * @throws {BloomConfigError} for one that may be less than what the database compares, so that rows would be left out: a `Date`, which has no
 * microseconds, an integer that JavaScript rounds, null.
 */
export function exactPlace(value: unknown): unknown {
  const isExact =
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    Number.isSafeInteger(value) ||
    value instanceof Uint8Array;
  if (isExact) return value;
  throw new BloomConfigError(noExactPlace(value));
}
