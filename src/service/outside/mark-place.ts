import type { BloomId } from '../../filter/index.js';
import { type BloomIdSource, type BloomMark, expectAsync } from '../../rebuild/index.js';
import { timeOf } from './mark-time.js';

/**
 * So many rows come after a mark, or half of all where there are few. A row that is far ahead in the order, such as one with a sentinel for its id, says
 * nothing of the rows before it, which are yet to come. Among so many rows and the mark one at least has to be in the order.
 */
export const ROWS_BEHIND = 100;
/** A source that gives few marks is not read again from a mark that so many rows follow. */
const MOST_BEHIND = 10_000;
/** Where so many rows are ahead of the clock, no row before them is looked for. */
const MOST_AHEAD = 1_000_000;
/** No integer of a database is further from another one. */
const MOST_STEP = 2n ** 65n;

/** The row of a reading that a mark may move to. Rows of a time that is yet to come are left out. */
export class MarkPlace {
  private total = 0;
  private readonly places: { readonly mark: BloomMark; readonly upTo: number }[] = [];

  /** @param areAll whether the reading is one of all rows. */
  constructor(
    private readonly areAll: boolean,
    private readonly wallMs: number,
  ) {}

  /** To be called with the marks of the reading, in their order, and how many rows each of them stands for. */
  next(mark: BloomMark, rows: number): void {
    if (isAhead(mark, this.wallMs)) return;
    const { places } = this;
    this.total += rows;
    places.push({ mark, upTo: this.total });
    while (places.length > 1 && this.isBehind(1)) places.shift();
  }

  get mark(): BloomMark | undefined {
    if (this.isBehind(0)) return this.places[0]!.mark;
    return this.total >= MOST_BEHIND ? this.places.at(-1)?.mark : undefined;
  }

  private isBehind(at: number): boolean {
    const { total, areAll, places } = this;
    const behind = areAll ? Math.min(ROWS_BEHIND, Math.ceil(total / 2)) : ROWS_BEHIND;
    return total - (places[at]?.upTo ?? total) >= Math.max(1, behind);
  }
}

/**
 * A row of the source that a mark may be set to, before all rows are read; undefined where there is none.
 *
 * @param areIds whether the marks are the ids, of which no two are equal.
 */
export async function placeOf(
  source: BloomIdSource,
  { areIds, wallMs }: { readonly areIds: boolean; readonly wallMs: number },
): Promise<BloomMark | undefined> {
  const last = await source.newest!();
  if (last === undefined) return undefined;
  let others = ROWS_BEHIND;
  let mark = await source.newest!(others);
  while (mark !== undefined && isAhead(mark, wallMs) && others < MOST_AHEAD)
    mark = await source.newest!((others *= 10));
  while (mark === undefined && others > 1) mark = await source.newest!((others = Math.floor(others / 2)));
  // A source that does not know how many rows to leave out gives the last one.
  if (areIds && mark === last) mark = await placeByReading(source, last);
  return mark === undefined || isAhead(mark, wallMs) ? undefined : mark;
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

async function placeByReading(source: BloomIdSource, last: BloomMark): Promise<BloomMark | undefined> {
  const first = await idsAfter(source, undefined, 2 * ROWS_BEHIND);
  if (first.length < 2 * ROWS_BEHIND) return first[Math.floor(first.length / 2) - 1] as BloomMark | undefined;
  // Texts have no distance, by which a row far from the last one could be found.
  if (last instanceof Date || !/^[+-]?\d+$/.test(String(last))) return last;
  const asMark = (value: bigint) =>
    typeof last === 'bigint' ? value : typeof last === 'number' ? Number(value) : String(value);
  const isBehind = async (value: bigint) =>
    (await idsAfter(source, asMark(value), ROWS_BEHIND)).length === ROWS_BEHIND;
  let high = BigInt(last);
  let low = high - 1n;
  for (let step = 2n; !(await isBehind(low)); step *= 2n) {
    // Rows were deleted meanwhile.
    if (step > MOST_STEP) return undefined;
    [high, low] = [low, BigInt(last) - step];
  }
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await isBehind(middle)) low = middle;
    else high = middle;
  }
  return asMark(low);
}

function isAhead(mark: BloomMark, wallMs: number): boolean {
  const ms = timeOf(mark);
  return ms !== undefined && ms > wallMs;
}
