import { BloomRebuildError } from '../common/index.js';
import type { FilterDescription, Staging } from '../store/index.js';
import type { ProgressReporter } from './progress.js';
import type { RebuildJob, RebuildRequest } from './rebuild-job.js';
import { missingFromStaging, passReadFewer, tooFewIds } from './rebuild.messages.js';
import { type ScanResult, scanSource } from './scan.js';
import { rowsThere } from './rows-there.js';
import { StallTimer } from './stall-timer.js';

/** A later pass may read fewer ids than one before it by this share, which have been deleted meanwhile. */
const LEAST_OF_PASS = 0.9;

export interface Filling {
  readonly staging: Staging;
  readonly progress: ProgressReporter;
  readonly found: FilterDescription;
  readonly signal: AbortSignal;
  /** How often the source is read. */
  readonly passes: number;
}

/** How long rows may still be on their way whose ids were added before. */
export function waitOf({ drainMs }: RebuildJob, { quietMs }: Staging): number {
  return Math.max(0, drainMs - quietMs);
}

export interface Filled extends ScanResult {
  /** False for a scan that needs another plan: the staging lacks ids, and must not go live. */
  readonly isMerged: boolean;
  /** Whether the ids are not as the source has said. */
  readonly isOutgrown: boolean;
}

/**
 * Drains, scans, merges and verifies; a scan that overflowed is returned before anything of it is merged.
 * Each pass reads the whole source, after the drain, and keeps what belongs to its part of the filter: for
 * that part it is all that a scan has to be.
 */
export async function fill(job: RebuildJob, request: RebuildRequest, filling: Filling): Promise<Filled> {
  const { staging, progress, signal, found, passes } = filling;
  progress.enter('draining');
  await job.clock.sleep(waitOf(job, staging), signal);

  let all: Scans | undefined;
  for (let pass = 0; pass < passes; pass++) {
    if (passes > 1) staging.beginPass?.(pass);
    progress.enter('scanning');
    const scan = together(all, await scanPass(job, filling, all), passes / (pass + 1));
    const isOutgrown = staging.isOutgrown === true;
    if (scan.overflow !== undefined || isOutgrown) return { ...scan, isMerged: false, isOutgrown };
    if (scan.bad && pass === passes - 1) job.emit({ type: 'ids-skipped', filter: job.name, ...scan.bad });
    if (!request.force) {
      assertSame(all, scan, pass, passes);
      if (pass === passes - 1) assertEnough(scan.distinctIds, found.builtIds, job);
    }
    progress.enter('merging');
    await staging.merge(signal);
    all = scan;
  }
  const scan = all!;

  progress.enter('verifying');
  const verdicts = scan.sample.length > 0 ? await staging.check(scan.sample) : [];
  const lacking = scan.sample.filter((_, i) => verdicts[i] !== 'maybe');
  const missing = job.mayBeExact ? await rowsThere(job.source, lacking, job.toKey) : lacking;
  if (missing.length > 0 && !staging.giveUpPartsOf?.(missing)) {
    throw new BloomRebuildError('staging-damaged', missingFromStaging(missing.length, verdicts.length));
  }
  return { ...scan, isMerged: true, isOutgrown: false };
}

async function scanPass(
  job: RebuildJob,
  { staging, progress, signal }: Filling,
  before: Scans | undefined,
): Promise<ScanResult> {
  const watch = new StallTimer(signal, job.stallMs);
  return scanSource({
    ...job,
    filter: staging.local,
    capacity: staging.capacity - (before?.distinctIds ?? 0),
    watch,
    onRead: (idsRead) => progress.read((before?.idsReadOfAll ?? 0) + idsRead),
    onRetry: (error) => job.emit({ type: 'source-retried', filter: job.name, error }),
  }).finally(() => watch.close());
}

/** The scans of several passes. */
interface Scans extends ScanResult {
  readonly idsReadOfAll: number;
  readonly mostIdsRead: number;
}

/** @param share of all parts in those that have been filled, by which is seen what the rest will hold. */
function together(before: Scans | undefined, scan: ScanResult, share: number): Scans {
  const distinctBefore = before?.distinctIds ?? 0;
  const { idsRead, overflow } = scan;
  return {
    ...scan,
    distinctIds: distinctBefore + scan.distinctIds,
    overflow: overflow === undefined ? undefined : Math.ceil((distinctBefore + overflow) * share),
    sample: [...(before?.sample ?? []), ...scan.sample],
    idsReadOfAll: (before?.idsReadOfAll ?? 0) + idsRead,
    mostIdsRead: Math.max(before?.mostIdsRead ?? 0, idsRead),
  };
}

/** @throws {BloomRebuildError} when a pass lacks rows that one before it has seen. */
function assertSame(before: Scans | undefined, { idsRead }: Scans, pass: number, passes: number): void {
  if (!before || idsRead >= before.mostIdsRead * LEAST_OF_PASS) return;
  throw new BloomRebuildError('too-few-ids', passReadFewer(pass + 1, passes, idsRead, before.mostIdsRead));
}

function assertEnough(ids: number, builtIds: number, { minRatio, isNewTable }: RebuildJob): void {
  const isFirst = ids === 0 && builtIds === 0 && isNewTable?.() === true;
  if (minRatio === 0 || isFirst || (ids > 0 && ids >= builtIds * minRatio)) return;
  throw new BloomRebuildError('too-few-ids', tooFewIds(ids, builtIds, minRatio));
}
