import { foldedText } from './folded-text.js';
import type { BloomId } from './id.js';

/*
 * Functions for the option `normalize`. Each maps all spellings that a database takes for one id to one text.
 * A function may also map ids to one text that the database keeps apart: that costs a lookup now and then.
 * The other way round an id that exists would be answered "absent".
 */

/**
 * For text that the database compares without case, or without case and accents: `citext`, and collations
 * such as `NOCASE`, `utf8mb4_unicode_ci`, `utf8mb4_0900_ai_ci` and `Latin1_General_CI_AS`. Ignores case,
 * accents, compatibility forms (as NFKD names them), characters that are not seen, the script of digits and
 * kana, and space at the ends; takes letters such as `ø` and `o`, `ß` and `ss` for one. What some collations
 * take for one beyond that is in docs/internals/lowercase.md.
 */
export function lowerCase(id: BloomId): BloomId {
  return typeof id === 'string' ? foldedText(id) : id;
}

/**
 * For a column of type `uuid`: upper and lower case, with or without hyphens, in braces, as `urn:uuid:…`, or
 * the 16 bytes. What is no UUID stays as it is.
 */
export function uuid(id: BloomId): BloomId {
  const digits = typeof id === 'string' ? uuidDigits(id) : id instanceof Uint8Array ? hexOf(id) : '';
  if (digits.length !== 32) return id;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * For a column of integers: `7`, `7n`, `'7'`, `'007'`, `'+7'`, `' 7 '`, `'7.0'`, `'0x7'` and `'1_000'` as
 * Postgres reads them, and `'7 pieces'` as MySQL does. MySQL takes text that begins with no digit for 0, and
 * so does this function.
 */
export function integer(id: BloomId): BloomId {
  if (typeof id !== 'string') return id;
  const text = id.trim();
  // Empty text is not an id, whatever a database makes of it.
  return text === '' ? text : integerText(text);
}

/** For a column of type `char(n)`, whose values are filled up with spaces, which no comparison looks at. */
export function padded(id: BloomId): BloomId {
  // Not by an expression, which would take quadratic time for many spaces.
  if (typeof id !== 'string') return id;
  let end = id.length;
  while (id[end - 1] === ' ') end--;
  return id.slice(0, end);
}

/** For ObjectIds of MongoDB: the object itself, its 12 bytes, and its 24 digits in upper or lower case. */
export function objectId(id: BloomId): BloomId {
  if (typeof id === 'string') return /^[\da-f]{24}$/i.test(id) ? id.toLowerCase() : id;
  if (id instanceof Uint8Array) return id.length === 12 ? Buffer.from(id).toString('hex') : id;
  return isObjectId(id) ? id.toHexString() : id;
}

/** The mark that every copy of the driver sets. */
function isObjectId(id: unknown): id is { toHexString(): string } {
  return typeof id === 'object' && id !== null && 'toHexString' in id && typeof id.toHexString === 'function';
}

/**
 * For text that is written with composed characters here and with combining ones there: Unicode's normal form
 * NFC. Text with more than 64 marks after one letter stays as it is.
 */
export function nfc(id: BloomId): BloomId {
  // The engine sorts the marks after a letter in quadratic time.
  return typeof id === 'string' && !/\p{M}{65}/u.test(id) ? id.normalize('NFC') : id;
}

/** The digits of a UUID, in lower case; another text if it is not a UUID. */
function uuidDigits(text: string): string {
  // Longer than any spelling: it is not worth a look.
  if (text.length > 64) return '';
  const bare = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '');
  return /^[\da-f]{32}$/.test(bare) ? bare : '';
}

function hexOf(bytes: Uint8Array): string {
  return bytes.length === 16 ? Buffer.from(bytes).toString('hex') : '';
}

/** A bit for each of 256 values. */
const MOST_BASED_DIGITS = 256;

function integerText(text: string): string {
  const [, sign = '', radix, based = '', digits = '', fraction = ''] =
    /^([+-]?)(?:0([xob])([\da-f_]+)|([\d_]*)((?:\.\d*)?(?:e[+-]?\d+)?))/i.exec(text)!;
  const magnitude = radix ? basedText(radix, based) : decimalText(digits.replaceAll('_', ''), fraction);
  return sign === '-' && magnitude !== '0' ? `-${magnitude}` : magnitude;
}

function basedText(radix: string, digits: string): string {
  const significant = digits.replaceAll('_', '').replace(/^0+(?=.)/, '');
  // Beyond every integer of a database, and decimal text costs quadratic time.
  if (significant.length > MOST_BASED_DIGITS) return '0';
  try {
    return BigInt(`0${radix.toLowerCase()}${significant}`).toString();
  } catch {
    return '0'; // '0b2': it has a digit that the radix does not have.
  }
}

/** @param fraction `.5`, `e3`, both or nothing. */
function decimalText(digits: string, fraction: string): string {
  const rounded = fraction === '' ? NaN : Math.trunc(Number(`${digits || '0'}${fraction}`));
  // Beyond that a number of JavaScript is another integer than the text says.
  const whole = Number.isSafeInteger(rounded) ? String(rounded) : digits;
  return whole.replace(/^0+(?=\d)/, '') || '0';
}
