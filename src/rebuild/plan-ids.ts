import { BloomRebuildError } from '../common/index.js';
import type { RebuildJob } from './rebuild-job.js';
import { countNotBelieved, tooManyForMaxBytes, wrongCount } from './rebuild.messages.js';
import { StallTimer } from './stall-timer.js';

/**
 * A plan follows `count()` up to this many times the known ids: these ids were not read, and the count may be
 * wrong.
 */
const MOST_TIMES_KNOWN = 16;
/** A plan follows `count()` up to this many ids in any case: 2 MB at the default error rate. */
const ALWAYS_PLANNED = 1_000_000;

/** Room for the ids that are added until the next rebuild. */
export function withHeadroom(ids: number): number {
  return ids + Math.ceil(ids / 10);
}

/** Whether a filter of so many ids stays within `maxBytes`. */
export function fits({ bytesFor, maxBytes = Infinity }: RebuildJob, ids: number): boolean {
  try {
    return bytesFor === undefined || bytesFor(ids) <= maxBytes;
  } catch {
    // More than the largest filter that there can be.
    return false;
  }
}

/** As many ids as are wanted, or as many of them as fit. */
export function withinBytes(job: RebuildJob, wanted: number): number {
  if (wanted <= job.capacity || fits(job, wanted)) return wanted;
  let [least, most] = [job.capacity, wanted];
  while (most - least > 1 + least / 100) {
    const middle = Math.floor((least + most) / 2);
    if (fits(job, middle)) least = middle;
    else most = middle;
  }
  return least;
}

/**
 * The capacity of the next attempt, when a source returned more ids than planned.
 *
 * @throws {BloomRebuildError} when they do not fit.
 */
export function planAgain(job: RebuildJob, ids: number, wanted: number): number {
  if (fits(job, ids)) return Math.max(ids, withinBytes(job, wanted));
  throw new BloomRebuildError(
    'too-many-ids',
    tooManyForMaxBytes(ids, job.errorRate, job.maxBytes ?? Infinity),
  );
}

/**
 * About how many ids to expect: from the source's `count()`, as far as that can be believed, otherwise from
 * the last build.
 */
export async function expectedIds(job: RebuildJob, builtIds: number, signal: AbortSignal): Promise<number> {
  const count = await countSource(job, signal);
  if (count === undefined) return builtIds;
  const most = Math.max(ALWAYS_PLANNED, MOST_TIMES_KNOWN * Math.max(job.capacity, builtIds));
  // Nothing is known before the first build but what `maxBytes` allows.
  if (count <= most || (job.isCounted && builtIds === 0)) return count;
  emitWrong(job, new Error(countNotBelieved(count, most)));
  return most;
}

async function countSource(job: RebuildJob, signal: AbortSignal): Promise<number | undefined> {
  const { source, stallMs } = job;
  if (!source.count) return undefined;
  const watch = new StallTimer(signal, stallMs);
  try {
    const count: unknown = await watch.wait((async () => source.count!())());
    if (count === undefined) return undefined;
    if (typeof count === 'number' && Number.isFinite(count) && count >= 0) return Math.ceil(count);
    throw new Error(wrongCount(count));
  } catch (error) {
    signal.throwIfAborted();
    emitWrong(job, error);
    return undefined;
  } finally {
    watch.close();
  }
}

export function emitWrong({ emit, name }: RebuildJob, error: unknown): void {
  emit({ type: 'count-ignored', filter: name, error });
}
