import { BLOCK_BYTES, integerOfText, type IntegerRange, planExact } from '../filter/index.js';
import { emitWrong } from './plan-ids.js';
import type { RebuildJob } from './rebuild-job.js';
import { expectAsync } from './source.js';
import { StallTimer } from './stall-timer.js';

/** From so many on a hashed id takes less, at an error rate of 0.001. */
const MOST_INTEGERS_PER_ID = 15;
/** Room for integers that come later, beyond that of the capacity. */
const ROOM = 1.15;
const LEAST_ROOM = 1024;
/** The last rows may be far ahead of all others: of a hundred rows one, of all rows so many. */
const ROWS_PER_ROW_AHEAD = 100;
const MOST_ROWS_AHEAD = 100;

/**
 * Integers that have a bit each in the next build; undefined where hashed ids take less, or the source does
 * not say where its integers begin and end. What it says is no more than a hint: an id outside is hashed.
 */
export async function plannedRange(
  job: RebuildJob,
  { ids, capacity }: { readonly ids: number; readonly capacity: number },
  signal: AbortSignal,
): Promise<IntegerRange | undefined> {
  const { source, stallMs, errorRate, maxBytes = Infinity, memoryBytes = Infinity } = job;
  if (!job.mayBeExact || !source.idsSince || !source.newest || ids < 1) return undefined;
  const watch = new StallTimer(signal, stallMs);
  try {
    const first = await watch.wait(firstInteger(job, watch.signal));
    if (first === undefined) return undefined;
    const ahead = Math.min(MOST_ROWS_AHEAD, Math.floor(ids / ROWS_PER_ROW_AHEAD));
    const last = integerOf(job, await watch.wait(source.newest(ahead)));
    if (last === undefined || last < first) return undefined;
    const perId = Math.max(1, (last - first + 1) / ids);
    if (perId > MOST_INTEGERS_PER_ID) return undefined;
    const range = { first, integers: Math.ceil(ROOM * capacity * perId) + LEAST_ROOM };
    const bytes = (planExact(range, errorRate)?.blocks ?? Infinity) * BLOCK_BYTES;
    return bytes <= Math.min(maxBytes, memoryBytes) ? range : undefined;
  } catch (error) {
    signal.throwIfAborted();
    emitWrong(job, error);
    return undefined;
  } finally {
    watch.close();
  }
}

/** Undefined for rows that are ordered by another value than their ids. */
async function firstInteger(job: RebuildJob, signal: AbortSignal): Promise<number | undefined> {
  for await (const found of expectAsync(job.source.idsSince!(undefined, { signal }), 'idsSince')) {
    if (!Array.isArray(found)) return integerOf(job, found);
    if (found.length > 0) return integerOf(job, found[0]);
  }
  return undefined;
}

function integerOf({ toKey }: RebuildJob, id: unknown): number | undefined {
  const isNumeric = typeof id === 'number' || typeof id === 'bigint' || typeof id === 'string';
  const key = isNumeric ? toKey(id) : '';
  const integer = typeof key === 'string' ? integerOfText(key) : NaN;
  return Number.isSafeInteger(integer) ? integer : undefined;
}
