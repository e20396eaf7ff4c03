import type { BloomMark } from '../../rebuild/index.js';
import { type BloomIdOrder, compareKeys } from './id-order.js';

/** The integers between two rows, given as decimal texts. Without `from` all integers before `to`. */
export interface Gap {
  readonly from?: string | undefined;
  readonly to: string;
  /** The newest row of the moment in which a rebuild found that no row is in the gap. */
  readonly newest?: string | undefined;
}

/** Number of gaps that are kept: the largest ones. */
export const MOST_GAPS = 8;

export function textOfGaps(gaps: readonly Gap[]): string {
  return gaps.map((gap) => `${nameOf(gap)}${gap.newest === undefined ? '' : `@${gap.newest}`}`).join(' ');
}

/** The gaps of a text of `textOfGaps`. */
export function gapsOf(text: string | undefined): Gap[] {
  const found = (text ?? '').matchAll(/(-?\d+)?:(-?\d+)(?:@(-?\d+))?/g);
  return [...found].map(([, from, to, newest]) => ({ from, to: to!, newest }));
}

/** The gaps of a text that count in an order. The order of a filter may have been another one when they were noted. */
export function gapsIn(order: BloomIdOrder | undefined, text: string | undefined): Gap[] {
  return order === 'integer' ? gapsOf(text) : [];
}

/** A text of the largest gaps of a text and of these. */
export function withGaps(text: string | undefined, gaps: readonly Gap[]): string {
  return textOfGaps(largestGaps([...gapsOf(text), ...gaps]));
}

/** The gaps after a mark. Those before it were noted with it, and a rebuild may have found them empty since. */
export function gapsAfter(gaps: readonly Gap[], mark: BloomMark | undefined): Gap[] {
  return gaps.filter(({ to }) => mark === undefined || compareKeys('integer', to, String(mark)) > 0);
}

/** The largest ones, each once, as it is noted last. */
export function largestGaps(gaps: readonly Gap[]): Gap[] {
  const each = new Map(gaps.map((gap) => [nameOf(gap), gap]));
  return [...each.values()].sort((one, other) => (isLarger(one, other) ? -1 : 1)).slice(0, MOST_GAPS);
}

/** Whether an integer is in one of the gaps. */
export function isInGap(gaps: readonly Gap[], key: string): boolean {
  return gaps.some(
    ({ from, to }) =>
      compareKeys('integer', key, to) < 0 && (from === undefined || compareKeys('integer', key, from) > 0),
  );
}

function nameOf({ from = '', to }: Gap): string {
  return `${from}:${to}`;
}

function isLarger(one: Gap, other: Gap): boolean {
  if (one.from === undefined || other.from === undefined) return one.from === undefined;
  return BigInt(one.to) - BigInt(one.from) > BigInt(other.to) - BigInt(other.from);
}
