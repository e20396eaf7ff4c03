import { type BloomId, BloomIdError, type IdKey, toIdKey } from 'nestjs-bloom/filter';
import { MAX_ID_BYTES_LIMIT } from 'nestjs-bloom/internal';
import { bigintTooLong, notText } from '../peers.messages.js';

/**
 * An id as peers take it: as `toIdKey` has it, but an empty one is allowed.
 *
 * @throws {BloomIdError} for a value that is not an id, and for a bigint of over 65,536 digits.
 */
export function toPeerKey(id: BloomId): IdKey {
  if (typeof id === 'string') return id;
  if (id instanceof Uint8Array) return id;
  const key = toIdKey(id);
  if (key.length > MAX_ID_BYTES_LIMIT) {
    throw new BloomIdError(bigintTooLong(MAX_ID_BYTES_LIMIT));
  }
  return key;
}

/**
 * An id as text.
 *
 * @throws {BloomIdError} for bytes, and for a value that is not an id.
 */
export function toText(id: BloomId): string {
  const key = toPeerKey(id);
  if (typeof key === 'string') return key;
  throw new BloomIdError(notText(key.length));
}
