import { type BloomIdSource, type BloomMark, expectAsync, timeOf } from '../../rebuild/index.js';
import { orderOf } from './coverage.js';
import { type Gap, largestGaps, MOST_GAPS } from './id-order.js';
import type { TopUpSettings } from './top-up-options.js';
import type { BloomId } from '../../filter/index.js';

/**
 * Rows that come after a mark, or half of all where there are few. A row far ahead, such as one with a
 * sentinel for its id, says nothing of the rows before it. Among these rows and the mark, one at least has to
 * be in the order.
 */
export const ROWS_BEHIND = 100;
/** So many rows are read again at most where a source gives few marks, of which none is far enough behind. */
const MOST_BEHIND = 1000;

/** A row that the mark may move to. */
export interface PlacedMark {
  readonly mark: BloomMark;
  /**
   * The largest gaps between the rows that the mark passes, of integers. More than `ROWS_BEHIND` rows may be
   * far ahead beyond each.
   */
  readonly gaps: readonly Gap[];
}

export interface MarkPlaceContext {
  /** The mark that the reading began with; undefined for one of all rows. */
  readonly since: BloomMark | undefined;
  readonly settings: Pick<TopUpSettings, 'ordered' | 'order'>;
  readonly wallMs: number;
}

/** Finds the row of a reading that the mark may move to. Rows of a future time are left out. */
export class MarkPlace {
  private total = 0;
  private readonly places: { readonly mark: BloomMark; readonly upTo: number; readonly gap?: Gap }[] = [];
  /** Gaps before those places. */
  private passed: Gap[] = [];
  private before: BloomMark | undefined;
  /** A text may have digits alone among others that do not. */
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

const LAST_ROWS = 10_000;
/** Rows of each question while the last ones are searched for. */
const SEARCHED_ROWS = 1000;
/** Most rows ahead of the clock that are passed over. */
const MOST_AHEAD = 1_000_000;
/** No integer of a database is further from another one. */
const MOST_STEP = 2n ** 65n;

type Place = Omit<MarkPlaceContext, 'since'>;

/** A row that a mark may be set to before all rows are read; undefined where there is none. */
export async function firstPlace(source: BloomIdSource, place: Place): Promise<PlacedMark | undefined> {
  const last = await source.newest!();
  if (last === undefined) return undefined;
  if (!place.settings.ordered) return placeOfMarks(source, place);
  let others = LAST_ROWS;
  let since = await source.newest!(others);
  while (since !== undefined && isAhead(since, place.wallMs) && others < MOST_AHEAD)
    since = await source.newest!((others *= 10));
  // A source that does not know how many rows to leave out gives the last one.
  if (since === last) since = await searched(source, last);
  if (since === last) return isAhead(last, place.wallMs) ? undefined : { mark: last, gaps: [] };
  const found = new MarkPlace({ ...place, since });
  for (const id of await idsAfter(source, since, 2 * others))
    // Bytes have no order.
    if (!(id instanceof Uint8Array)) found.next(id, 1);
  return found.place;
}

/** Marks are not ids, and several rows may have the same. */
async function placeOfMarks(source: BloomIdSource, { wallMs }: Place): Promise<PlacedMark | undefined> {
  let others = ROWS_BEHIND;
  let mark = await source.newest!(others);
  while (mark !== undefined && isAhead(mark, wallMs) && others < MOST_AHEAD)
    mark = await source.newest!((others *= 10));
  while (mark === undefined && others > 1) mark = await source.newest!((others = Math.floor(others / 2)));
  return mark === undefined || isAhead(mark, wallMs) ? undefined : { mark, gaps: [] };
}

export async function idsAfter(
  source: BloomIdSource,
  mark: BloomMark | undefined,
  most: number,
): Promise<readonly BloomId[]> {
  const ended = new AbortController();
  const found: BloomId[] = [];
  try {
    const read = expectAsync(source.idsSince!(mark, { signal: ended.signal }), 'idsSince');
    for await (const batch of read) {
      const isBatch = typeof batch === 'object' && !(batch instanceof Uint8Array);
      const ids = isBatch ? ('ids' in batch ? batch.ids : batch) : [batch];
      found.push(...ids.slice(0, most - found.length));
      if (found.length === most) break;
    }
    return found;
  } finally {
    ended.abort();
  }
}

/**
 * A place before some rows, by readings alone: undefined for the beginning, the last row where ids have no
 * distance.
 */
async function searched(source: BloomIdSource, last: BloomMark): Promise<BloomMark | undefined> {
  const hasRows = async (mark: BloomMark | undefined) =>
    (await idsAfter(source, mark, SEARCHED_ROWS)).length === SEARCHED_ROWS;
  if (!(await hasRows(undefined))) return undefined;
  if (last instanceof Date || !/^[+-]?\d+$/.test(String(last))) return last;
  const asMark = (value: bigint) => likeMark(last, value);
  let high = BigInt(last);
  let low = high - 1n;
  for (let step = 2n; !(await hasRows(asMark(low))); step *= 2n) {
    // Rows were deleted meanwhile.
    if (step > MOST_STEP) return undefined;
    [high, low] = [low, BigInt(last) - step];
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await hasRows(asMark(middle))) low = middle;
    else high = middle;
  }
  return asMark(low);
}

/** An integer as a mark of the type of another mark. */
export function likeMark(mark: BloomMark, integer: bigint): BloomMark {
  if (typeof mark === 'number') return Number(integer);
  return typeof mark === 'bigint' ? integer : String(integer);
}
