import { type BloomId, BloomIdError, type IdKey, toIdKey } from 'nestjs-bloom/filter';
import { MAX_ID_BYTES_LIMIT } from 'nestjs-bloom/internal';
import type { ByteSink, LoneSurrogate } from './byte-sink.js';
import { bigintTooLong, notAnInteger, notText } from './formats.messages.js';

/**
 * An id as peers take it: as `toIdKey` has it, but an empty one is allowed.
 *
 * @throws {BloomIdError} for a value that is not an id, and for a bigint of over 65,536 digits.
 */
function toPeerKey(id: BloomId): IdKey {
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

/** Puts the UTF-8 bytes of an id's text, or the bytes that the id is. */
export function putTextOrBytes(id: BloomId, sink: ByteSink, loneSurrogate: LoneSurrogate): void {
  const key = typeof id === 'string' ? id : toPeerKey(id);
  if (typeof key === 'string') sink.putUtf8(key, loneSurrogate);
  else sink.putBytes(key);
}

const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;
/** Longer decimals may be beyond the safe integers. */
const SAFE_DIGITS = 15;

/**
 * An id that is a signed integer of Java: `1`, `1n` and `'1'` are one. Its halves of 32 bits are left in two
 * fields.
 */
export class IntegerId {
  high = 0;
  low = 0;

  /** @throws {BloomIdError} when the id is no integer from -2^63 to 2^63 - 1. */
  readLong(id: BloomId): void {
    if (!this.read(id)) throw refused(id, 'a 64-bit integer', 'from -2^63 to 2^63 - 1');
  }

  /** @throws {BloomIdError} when the id is no integer from -2^31 to 2^31 - 1. */
  readInteger(id: BloomId): void {
    if (!this.read(id) || this.high !== this.low >> 31) {
      throw refused(id, 'a 32-bit integer', 'from -2147483648 to 2147483647');
    }
  }

  private read(id: BloomId): boolean {
    if (typeof id === 'number') return this.readNumber(id);
    if (typeof id === 'bigint') return this.readBigint(id);
    if (typeof id !== 'string' || !DECIMAL.test(id)) return false;
    return id.length <= SAFE_DIGITS ? this.readNumber(Number(id)) : this.readBigint(BigInt(id));
  }

  private readNumber(value: number): boolean {
    this.low = value | 0;
    this.high = Math.floor(value / 0x100000000) | 0;
    return Number.isSafeInteger(value);
  }

  private readBigint(value: bigint): boolean {
    this.low = Number(BigInt.asIntN(32, value));
    this.high = Number(BigInt.asIntN(32, value >> 32n));
    return BigInt.asIntN(64, value) === value;
  }
}

function refused(id: BloomId, kind: string, range: string): BloomIdError {
  const got = typeof id === 'bigint' ? 'a larger bigint' : typeof id === 'object' ? 'bytes' : describe(id);
  return new BloomIdError(notAnInteger(kind, range, got));
}

function describe(id: string | number): string {
  const text = String(id);
  return typeof id === 'number' ? text : `'${text.length > 40 ? `${text.slice(0, 40)}…` : text}'`;
}
