import type { BloomMark } from '../../rebuild/index.js';
import { orderOf } from './coverage.js';
import { type Gap, largestGaps, MOST_GAPS } from './mark-gaps.js';
import { timeOf } from './mark-time.js';
import type { TopUpSettings } from './top-up-options.js';

/**
 * Number of rows that come after a mark, or half of all where there are few. A row that is far ahead in the order,
 * such as one with a sentinel for its id, says nothing of the rows before it, which are yet to come. Among so
 * many rows and the mark one at least has to be in the order.
 */
export const ROWS_BEHIND = 100;
/** So many rows are read again at most where a source gives few marks, of which none is far enough behind. */
const MOST_BEHIND = 1000;

/** A row that the mark may move to. */
export interface PlacedMark {
  readonly mark: BloomMark;
  /**
   * The largest gaps between the rows that the mark passes, where ids are integers. More rows than
   * `ROWS_BEHIND` may be far ahead beyond each.
   */
  readonly gaps: readonly Gap[];
}

export interface MarkPlaceContext {
  /** The mark that the reading began with; undefined for one of all rows. */
  readonly since: BloomMark | undefined;
  readonly settings: Pick<TopUpSettings, 'ordered' | 'order'>;
  readonly wallMs: number;
}

/** Finds the row of a reading that the mark may move to. Rows of a time that is yet to come are left out. */
export class MarkPlace {
  private total = 0;
  private readonly places: { readonly mark: BloomMark; readonly upTo: number; readonly gap?: Gap }[] = [];
  /** Gaps before those places. */
  private passed: Gap[] = [];
  private before: BloomMark | undefined;
  /** Whether all marks until now are: a text may have digits alone among others that do not. */
  private areIntegers: boolean;

  constructor(private readonly context: MarkPlaceContext) {
    const { since, settings } = context;
    this.before = since;
    this.areIntegers = settings.ordered && (since === undefined || orderOf(since, settings) === 'integer');
  }

  /** Takes the next mark of the reading, and how many rows it stands for. */
  next(mark: BloomMark, rows: number): void {
    if (isAhead(mark, this.context.wallMs)) return;
    const { places } = this;
    this.total += rows;
    const gap = this.gapBefore(mark);
    places.push({ mark, upTo: this.total, ...(gap && { gap }) });
    while (places.length > 1 && this.isBehind(1)) this.pass(places.shift()!.gap);
  }

  get place(): PlacedMark | undefined {
    const [first] = this.places;
    const last = this.places.at(-1);
    if (!first || !last) return undefined;
    if (this.isBehind(0)) {
      const gaps = this.areIntegers ? [...this.passed, first.gap ?? []].flat() : [];
      return { mark: first.mark, gaps: largestGaps(gaps) };
    }
    return this.total >= MOST_BEHIND ? { mark: last.mark, gaps: [] } : undefined;
  }

  private isBehind(at: number): boolean {
    const { total, places, context } = this;
    const isOfAll = context.since === undefined;
    const behind = isOfAll ? Math.min(ROWS_BEHIND, Math.ceil(total / 2)) : ROWS_BEHIND;
    return total - (places[at]?.upTo ?? total) >= Math.max(1, behind);
  }

  private gapBefore(mark: BloomMark): Gap | undefined {
    const { settings } = this.context;
    const { before } = this;
    this.areIntegers &&= orderOf(mark, settings) === 'integer';
    if (!this.areIntegers) return undefined;
    this.before = mark;
    const to = BigInt(mark as string | number | bigint);
    const from = before === undefined ? undefined : BigInt(before as string | number | bigint);
    if (from !== undefined && to - from < 2n) return undefined;
    return { from: from?.toString(), to: to.toString() };
  }

  private pass(gap: Gap | undefined): void {
    if (!gap) return;
    this.passed.push(gap);
    // Sorted now and then only: a reading may be one of millions of rows.
    if (this.passed.length > 8 * MOST_GAPS) this.passed = largestGaps(this.passed);
  }
}

export function isAhead(mark: BloomMark, wallMs: number): boolean {
  const ms = timeOf(mark);
  return ms !== undefined && ms > wallMs;
}
