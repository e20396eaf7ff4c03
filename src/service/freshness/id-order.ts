import type { IdKey } from '../../filter/index.js';
import type { BloomIdOrder, BloomMark } from '../../rebuild/index.js';

/**
 * Sign and digits of an integer, without leading zeros. Only one part may take a zero: otherwise many zeros
 * take quadratic time.
 */
const INTEGER = /^([+-]?)0*((?!0)\d+|0)$/;

/** Whether the key is one of the order: any text, or the decimal text of an integer. */
export function isOfOrder(order: BloomIdOrder, key: IdKey): key is string {
  return typeof key === 'string' && (order === 'text' || INTEGER.test(key));
}

/** Negative when `one` comes first, 0 for equals; exact for any size. Both have to be of the order. */
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

/** JavaScript compares UTF-16, where code points beyond 0xffff come before 0xe000 to 0xffff. */
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

/** The integers between two rows, as decimal texts. Without `from` all integers before `to`. */
export interface Gap {
  readonly from?: string | undefined;
  readonly to: string;
  /** The newest row when a rebuild found no row in the gap. */
  readonly newest?: string | undefined;
}

const SAFE_DIGITS = 15;

/** The largest gaps are kept. */
export const MOST_GAPS = 8;

export function textOfGaps(gaps: readonly Gap[]): string {
  return gaps.map((gap) => `${nameOf(gap)}${gap.newest === undefined ? '' : `@${gap.newest}`}`).join(' ');
}

export function gapsOf(text: string | undefined): Gap[] {
  const found = (text ?? '').matchAll(/(-?\d+)?:(-?\d+)(?:@(-?\d+))?/g);
  return [...found].map(([, from, to, newest]) => ({ from, to: to!, newest }));
}

/** The gaps that count in an order: a filter may have had another order when they were recorded. */
export function gapsIn(order: BloomIdOrder | undefined, text: string | undefined): Gap[] {
  return order === 'integer' ? gapsOf(text) : [];
}

export function withGaps(text: string | undefined, gaps: readonly Gap[]): string {
  return textOfGaps(largestGaps([...gapsOf(text), ...gaps]));
}

/** The gaps after a mark. Those before it were recorded with it, and may have been found empty since. */
export function gapsAfter(gaps: readonly Gap[], mark: BloomMark | undefined): Gap[] {
  return gaps.filter(({ to }) => mark === undefined || compareKeys('integer', to, String(mark)) > 0);
}

/** The largest gaps, each once, in its last form. */
export function largestGaps(gaps: readonly Gap[]): Gap[] {
  const each = new Map(gaps.map((gap) => [nameOf(gap), gap]));
  return [...each.values()].sort((one, other) => (isLarger(one, other) ? -1 : 1)).slice(0, MOST_GAPS);
}

export function isInGap(gaps: readonly Gap[], key: string): boolean {
  return gaps.some(
    ({ from, to }) =>
      compareKeys('integer', key, to) < 0 && (from === undefined || compareKeys('integer', key, from) > 0),
  );
}

/** Whether a key is one of the order, does not come after the last one, and is in no gap. */
export function coveredKeys(
  order: BloomIdOrder,
  upTo: string,
  gaps: readonly Gap[],
): (key: IdKey) => key is string {
  const isCovered = (key: IdKey): key is string =>
    isOfOrder(order, key) && compareKeys(order, key, upTo) <= 0 && !isInGap(gaps, key);
  const last = asNumber(upTo);
  const open = gaps.map(
    ({ from, to }) => [from === undefined ? -Infinity : asNumber(from), asNumber(to)] as const,
  );
  if (order !== 'integer' || [last, ...open.flat()].some(Number.isNaN)) return isCovered;
  return (key): key is string => {
    const number = typeof key === 'string' ? ofDigits(key) : NaN;
    if (Number.isNaN(number)) return isCovered(key);
    return number <= last && !open.some(([from, to]) => number > from && number < to);
  };
}

/** NaN for what is no integer, or of so many digits that numbers do not tell all of them apart. */
function asNumber(text: string): number {
  return text.length <= SAFE_DIGITS && INTEGER.test(text) ? Number(text) : NaN;
}

/** NaN for anything but digits, and for too many of them. Faster than an expression. */
function ofDigits(text: string): number {
  const { length } = text;
  let number = length === 0 || length > SAFE_DIGITS ? NaN : 0;
  for (let i = 0; i < length && number >= 0; i++) {
    const digit = text.charCodeAt(i) - 48;
    number = digit >= 0 && digit <= 9 ? 10 * number + digit : NaN;
  }
  return number;
}

function nameOf({ from = '', to }: Gap): string {
  return `${from}:${to}`;
}

function isLarger(one: Gap, other: Gap): boolean {
  if (one.from === undefined || other.from === undefined) return one.from === undefined;
  return BigInt(one.to) - BigInt(one.from) > BigInt(other.to) - BigInt(other.from);
}
