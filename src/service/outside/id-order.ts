import type { IdKey } from '../../filter/index.js';

/** How ids follow one another: as integers of any size, or as texts by their code points, such as ULIDs, UUIDs of version 7, KSUIDs. */
export type BloomIdOrder = 'integer' | 'text';

/**
 * An integer as its sign and its digits, without leading zeros. Only one part of the expression may take a zero:
 * otherwise a text of many zeros takes quadratic time.
 */
const INTEGER = /^([+-]?)0*((?!0)\d+|0)$/;

/** Whether the key is one of the order: any text, or the decimal text of an integer. */
export function isOfOrder(order: BloomIdOrder, key: IdKey): key is string {
  return typeof key === 'string' && (order === 'text' || INTEGER.test(key));
}

/** Negative when `one` comes first, 0 for equals. Exact: no key is made a number. Both have to be of the order. */
export function compareKeys(order: BloomIdOrder, one: string, other: string): number {
  return order === 'integer' ? compareIntegers(one, other) : compareTexts(one, other);
}

function compareIntegers(one: string, other: string): number {
  const [, sign = '', digits = ''] = INTEGER.exec(one)!;
  const [, otherSign = '', otherDigits = ''] = INTEGER.exec(other)!;
  const isNegative = sign === '-' && digits !== '0';
  const isOtherNegative = otherSign === '-' && otherDigits !== '0';
  if (isNegative !== isOtherNegative) return isNegative ? -1 : 1;
  const compared = compareDigits(digits, otherDigits);
  return isNegative ? -compared : compared;
}

function compareDigits(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  return one < other ? -1 : Number(one !== other);
}

/** JavaScript compares UTF-16: a code point beyond 0xffff, which is two surrogates there, would come before 0xe000 to 0xffff. */
function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) {
    const a = one.charCodeAt(i);
    const b = other.charCodeAt(i);
    if (a !== b) return inCodePoints(a) - inCodePoints(b);
  }
  return one.length - other.length;
}

/** Surrogates after all other units. */
function inCodePoints(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000;
}
