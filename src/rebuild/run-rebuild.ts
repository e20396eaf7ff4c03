import { BloomRebuildError } from '../common/index.js';
import type { BuildOccasion, BuildOutcome, FilterDescription, RebuildLease } from '../store/index.js';
import { rebuildError } from './failure.js';
import { fill, waitOf } from './fill-staging.js';
import { expectedIds, fits, planAgain, withHeadroom, withinBytes } from './plan-ids.js';
import { plannedRange } from './plan-range.js';
import { ANOTHER_PROCESS, notDueYet, sourceOutgrowsPlans } from './rebuild.messages.js';
import { ProgressReporter } from './progress.js';
import type { RebuildJob, RebuildRequest } from './rebuild-job.js';
import type { BloomRebuildReport } from './report.js';

const MAX_REPLANS = 5;

/**
 * One rebuild: lease, stage, drain, scan, merge, verify, swap. Exactly one of the events `rebuild-finished`,
 * `rebuild-skipped` and `rebuild-failed` reports how it ended. When no build was due there is no event, since
 * every process asks again and again.
 *
 * @throws {BloomRebuildError} when no new generation went live.
 */
export async function runRebuild(job: RebuildJob, request: RebuildRequest = {}): Promise<BloomRebuildReport> {
  const { name, emit } = job;
  let signal = request.signal ?? new AbortController().signal;
  try {
    signal.throwIfAborted();
    let dueInMs = 0;
    const lease = await job.store.lease({
      leaseMs: job.leaseMs,
      occasion: request.occasion,
      unless: request.unless,
      onNotDue: (ms) => (dueInMs = ms),
    });
    if (!lease && dueInMs > 0) return notDue(request.occasion, dueInMs);
    if (!lease) return skipped(job, ANOTHER_PROCESS);
    signal = AbortSignal.any([signal, lease.signal]);
    let outcome: BuildOutcome | undefined;
    try {
      const described = await job.store.describe();
      // A number that no filter within `maxBytes` can have held counts as 0.
      const found = fits(job, described.builtIds) ? described : { ...described, builtIds: 0 };
      const reason = lease.declined ?? request.unless?.(found);
      if (reason !== undefined) return skipped(job, reason);
      const report = await publish(job, request, { lease, found, signal });
      outcome = { kind: 'published' };
      return report;
    } catch (cause) {
      const { reason, retryAfterMs } = rebuildError(name, cause, signal);
      // Somebody who stops a run does not want the next one at once.
      if (reason !== 'aborted' || retryAfterMs !== undefined) outcome = { kind: 'failed', retryAfterMs };
      throw cause;
    } finally {
      await cleanUp(job, () => lease.release(outcome));
    }
  } catch (cause) {
    const error = rebuildError(name, cause, signal);
    emit({ type: 'rebuild-failed', filter: name, error });
    throw error;
  }
}

interface Run {
  readonly lease: RebuildLease;
  readonly found: FilterDescription;
  readonly signal: AbortSignal;
}

async function publish(job: RebuildJob, request: RebuildRequest, run: Run): Promise<BloomRebuildReport> {
  const { name, emit, clock } = job;
  const startedAt = clock.now();
  const expected = await expectedIds(job, run.found.builtIds, run.signal);
  const progress = new ProgressReporter(job, request.onProgress, expected);
  let capacity = Math.max(job.capacity, withinBytes(job, withHeadroom(expected)));
  let range = await plannedRange(job, { ids: expected, capacity }, run.signal);

  for (let replans = 0; ; replans++) {
    progress.enter('staging');
    const { errorRate, maxIdBytes } = job;
    const staging = await run.lease.stage({ capacity, errorRate, maxIdBytes, range });
    const { bytes } = staging;
    const passes = staging.divide?.(job.memoryBytes ?? Infinity) ?? 1;
    progress.stage(passes);
    const waitMs = waitOf(job, staging);
    emit({ type: 'rebuild-started', filter: name, capacity, bytes, waitMs, ...(passes > 1 && { passes }) });
    try {
      const scan = await fill(job, request, { ...run, staging, progress, passes });
      if (scan.isMerged) {
        progress.enter('swapping');
        run.signal.throwIfAborted();
        await staging.commit(scan.distinctIds);
        const durationMs = Math.round(clock.now() - startedAt);
        const { distinctIds } = scan;
        const ids = scan.idsRead - (scan.bad?.skipped ?? 0);
        emit({ type: 'rebuild-finished', filter: name, ids, distinctIds, durationMs });
        return {
          outcome: 'published',
          ids,
          distinctIds,
          idsRead: scan.idsRead,
          capacity,
          bytes,
          replans,
          durationMs,
          ...(run.lease.parts && { parts: run.lease.parts }),
        };
      }
      if (replans === MAX_REPLANS) {
        const found = scan.overflow ?? scan.distinctIds;
        throw new BloomRebuildError('too-many-ids', sourceOutgrowsPlans(MAX_REPLANS + 1, found));
      }
      if (scan.overflow !== undefined) {
        // A second time: the source grows while it is read, and faster than the usual room allows for.
        const wanted = Math.max(withHeadroom(scan.overflow), replans > 0 ? 2 * capacity : 0);
        capacity = planAgain(job, scan.overflow, wanted);
        range &&= await plannedRange(job, { ids: scan.overflow, capacity }, run.signal);
      }
      if (scan.isOutgrown) range = undefined;
      emit({ type: 'rebuild-replanned', filter: name, capacity, idsRead: scan.idsRead });
    } catch (error) {
      await cleanUp(job, () => staging.abort());
      throw error;
    }
  }
}

function notDue(occasion: BuildOccasion | undefined, dueInMs: number): BloomRebuildReport {
  return { outcome: 'skipped', reason: notDueYet(occasion, dueInMs), dueInMs };
}

function skipped({ name, emit }: RebuildJob, reason: string): BloomRebuildReport {
  emit({ type: 'rebuild-skipped', filter: name, reason });
  return { outcome: 'skipped', reason };
}

/** Keys that are left behind expire automatically. */
async function cleanUp({ name, emit }: RebuildJob, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    emit({ type: 'clean-up-failed', filter: name, error });
  }
}
