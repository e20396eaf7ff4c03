import { BloomFormatError } from 'nestjs-bloom/filter';
import type { Geometry } from './geometry.js';
import { stringTooLong, bitsBehindTheLast } from '../peers.messages.js';

/**
 * Checks the value of a Redis string that holds the bits of a filter, most significant first. It may be shorter than the filter:
 * Redis keeps bytes up to the highest bit set only.
 *
 * @throws {BloomFormatError} when it is longer than the filter, or has bits behind the last one.
 */
export function checkRedisString(value: Uint8Array, { bits }: Geometry): void {
  const size = Math.ceil(bits / 8);
  if (value.length > size) {
    throw new BloomFormatError(stringTooLong(size, bits, value.length));
  }
  const spare = size * 8 - bits;
  if (value.length === size && (value[size - 1]! & ((1 << spare) - 1)) !== 0) {
    throw new BloomFormatError(bitsBehindTheLast(bits - 1));
  }
}
