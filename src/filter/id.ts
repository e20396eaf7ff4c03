import { createHash } from 'node:crypto';
import { BloomIdError } from '../common/index.js';
import { notAnId, idTooLong } from './filter.messages.js';

/** What is looked up. `1`, `1n` and `'1'` are one id: their decimal text in UTF-8. */
export type BloomId = string | number | bigint | Uint8Array;

/** What names a tenant. `7`, `7n` and `'7'` are one; `Acme` and `acme` are two. */
export type BloomScope = string | number | bigint;

/** An id as it is hashed: text (its UTF-8 bytes) or the bytes themselves. */
export type IdKey = string | Uint8Array;

/** The largest value the option `maxIdBytes` may have. */
export const MAX_ID_BYTES_LIMIT = 65_536;

/**
 * The hashable form of an id.
 *
 * @throws {BloomIdError} for an empty id, a number that is not a safe integer, and any other type.
 */
export function toIdKey(id: unknown): IdKey {
  switch (typeof id) {
    case 'string':
      if (id.length > 0) return id;
      break;
    case 'number':
      if (Number.isSafeInteger(id)) return String(id);
      break;
    case 'bigint':
      return bigintText(id);
    case 'object':
      if (id instanceof Uint8Array && id.length > 0) return id;
      break;
  }
  throw new BloomIdError(notAnId(named(id), isRounded(id)));
}

/** Whether a value is an integer that may not be the one it was. */
export function isRounded(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Whether an id has more bytes than this. */
export function isLongerThan(id: IdKey, bytes: number): boolean {
  // A UTF-16 unit becomes three bytes of UTF-8 at most.
  if (id.length * 3 <= bytes) return false;
  return id.length > bytes || (typeof id === 'string' && Buffer.byteLength(id) > bytes);
}

/** What an `add` of an id over `maxIdBytes` throws. */
export function tooLong(maxIdBytes: number): BloomIdError {
  return new BloomIdError(idTooLong(maxIdBytes));
}

/** @throws {BloomIdError} for an id over `maxIdBytes`. */
export function assertNotTooLong(id: IdKey, maxIdBytes: number): void {
  if (isLongerThan(id, maxIdBytes)) throw tooLong(maxIdBytes);
}

/** One text for an id, however it was written: that of its bytes, a character each. */
export function idKeyText(key: IdKey): string {
  if (typeof key !== 'string')
    return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1');
  // oxlint-disable-next-line no-control-regex
  return /^[\0-\x7f]*$/.test(key) ? key : Buffer.from(key).toString('latin1');
}

/** The longest note that is the text of an id itself; a longer one is a digest. */
const MAX_PLAIN_NOTE = 64;

/**
 * A text of at most 65 characters for an id of any length, one for all its spellings: what is kept of an id
 * to know it again. The engine hashes a longer text by its length alone, so that a map of many is searched
 * one by one.
 */
export function idNote(key: IdKey): string {
  const text = idKeyText(key);
  if (text.length <= MAX_PLAIN_NOTE) return text;
  // The text has 65 characters, so it is the text of no other id.
  return `#${createHash('sha256').update(text, 'latin1').digest('hex')}`;
}

/**
 * The same text in memory of its own. The engine keeps a part of a longer text as a reference to that, which
 * would stay with it.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/**
 * Whether a bigint certainly has more decimal digits than this: known by its bits, in a time that does not
 * depend on its length. Its decimal text costs tens of milliseconds from 30,000 digits on.
 */
export function hasMoreDigits(id: bigint, digits: number): boolean {
  // From 10 ** digits on, and the sign takes a bit.
  const bits = Math.ceil(digits * Math.log2(10)) + 1;
  return BigInt.asIntN(bits, id) !== id;
}

/**
 * One that is longer than any id may be has its hexadecimal text, which costs linear time, and is too long as
 * well: it is never hashed.
 */
function bigintText(id: bigint): string {
  if (BigInt.asIntN(64, id) === id || !hasMoreDigits(id, MAX_ID_BYTES_LIMIT)) return id.toString();
  return id.toString(16).padStart(MAX_ID_BYTES_LIMIT + 1, '0');
}

function named(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'number') return `the number ${Object.is(value, -0) ? '-0' : value}`;
  if (value instanceof Uint8Array) return 'an empty Uint8Array';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object' || value === null) return String(value === null ? null : typeof value);
  const owner: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof owner === 'string' && owner !== '' && owner !== 'Object'
    ? `an object of class ${owner}`
    : 'an object';
}
