import type { BloomId } from '../../filter/index.js';
import { type BloomIdSource, type BloomMark, expectAsync } from '../../rebuild/index.js';
import { isAhead, MarkPlace, type MarkPlaceContext, type PlacedMark, ROWS_BEHIND } from './mark-place.js';

/** Number of the last rows that are looked at. */
const LAST_ROWS = 10_000;
/** Number of rows that each question returns while the last ones are searched for. */
const SEARCHED_ROWS = 1000;
/** Most rows ahead of the clock that are passed over. */
const MOST_AHEAD = 1_000_000;
/** No integer of a database is further from another one. */
const MOST_STEP = 2n ** 65n;

type Place = Omit<MarkPlaceContext, 'since'>;

/** A row of the source that a mark may be set to, before all rows are read; undefined where there is none. */
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

/** Marks are no ids, and several rows may have the same. */
async function placeOfMarks(source: BloomIdSource, { wallMs }: Place): Promise<PlacedMark | undefined> {
  let others = ROWS_BEHIND;
  let mark = await source.newest!(others);
  while (mark !== undefined && isAhead(mark, wallMs) && others < MOST_AHEAD)
    mark = await source.newest!((others *= 10));
  while (mark === undefined && others > 1) mark = await source.newest!((others = Math.floor(others / 2)));
  return mark === undefined || isAhead(mark, wallMs) ? undefined : { mark, gaps: [] };
}

/** The first ids after a mark, so many at most. */
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
 * A place that some rows come after, by readings alone: undefined for the beginning, and the last row itself
 * where ids have no distance.
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

/** An integer as a mark of the type of another one. */
export function likeMark(mark: BloomMark, integer: bigint): BloomMark {
  if (typeof mark === 'number') return Number(integer);
  return typeof mark === 'bigint' ? integer : String(integer);
}
