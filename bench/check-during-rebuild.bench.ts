import { setTimeout as delay } from 'node:timers/promises';
import type { BloomReplicaMode } from '../src/store/index.js';
import type { ManagedFilter } from '../src/service/index.js';
import { assert, type Bench, type BenchContext, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, untilLeased } from './redis-bench.js';

/** Checks under way at once, again each millisecond. */
const CALLERS = 10;
const METRIC = 'ms a check, 99.9 %';
const SHARE = '% of checks that Redis answers';
/** Fewer than those above the percentile. */
const MOST_REMOTE = 0.1;
const LEASE_MS = 1000;
/**
 * For one way to have a copy; a machine with other work ends with fewer rounds. At least one round is run.
 */
const LONGEST_MS = 120_000;
/** Without a rebuild. */
const LONGEST_QUIET_MS = 10_000;

/**
 * What the checks of one measurement wait, in milliseconds. An array that grows would be garbage, and waits
 * of its own.
 */
const waits = new Float64Array(2_000_000);

type Rebuild = () => Promise<{ outcome: string; ms: number }>;

interface Checks {
  readonly p999Ms: number;
  /** Share of the checks that Redis answered. */
  readonly remote: number;
}

/**
 * Checks of absent ids while another process rebuilds the filter and swaps it in, with a copy that is not
 * leased and with one that is.
 */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 50_000);
  const { url } = await redisBench(context);
  const rebuild = await rebuilder(url, ids, context);
  const rebuildElsewhere = await rebuilder((await redisBench(context)).url, ids, context);
  const ground = { url, ids, rebuild, rebuildElsewhere };

  const verified = await rounds('verified', ground, context);
  // Each of these checks is a command, and must not wait longer for a rebuild of its filter than for the
  // processor.
  const ofMachine = { atMost: 1.5, of: '× with a rebuild elsewhere' };
  goal(report, 'verified', verified, {
    ratio: ratioOf(verified.rebuilding, verified.elsewhere),
    ...ofMachine,
  });
  const leased = await rounds('leased', ground, context);
  goal(report, 'leased', leased, {
    ratio: ratioOf(leased.rebuilding, leased.idle),
    atMost: 1.5,
    of: '× without a rebuild',
  });
  const remote = 100 * remoteOf(leased.rebuilding);
  report.goal({
    contender: 'leased, during a rebuild',
    metric: SHARE,
    value: remote,
    ratio: remote,
    atMost: MOST_REMOTE,
    of: '%',
  });
};

function goal(
  report: BenchContext['report'],
  replica: BloomReplicaMode,
  { rebuilding }: Rounds,
  against: { ratio: number; atMost: number; of: string },
): void {
  const value = median(p999Of(rebuilding));
  report.goal({ contender: `${replica}, during a rebuild`, metric: METRIC, value, ...against });
}

/**
 * Builds the filter on this server, and then again each time that it is called, in a process of its own. That
 * is one of another machine where filters are in use: it gets the processor time that nothing else wants.
 */
async function rebuilder(url: string, ids: number, context: BenchContext): Promise<Rebuild> {
  const process = OtherProcess.start('rebuilder-app.ts', [url, String(ids), String(LEASE_MS)], context);
  process.yieldProcessor();
  await process.answer();
  const rebuild: Rebuild = () => process.ask('rebuild');
  assert((await rebuild()).outcome === 'published', 'the filter to be built');
  return rebuild;
}

interface Ground {
  readonly url: string;
  readonly ids: number;
  readonly rebuild: Rebuild;
  /** A filter of another process, on another server. */
  readonly rebuildElsewhere: Rebuild;
}

/** The checks of each round. */
interface Rounds {
  readonly idle: readonly Checks[];
  readonly elsewhere: readonly Checks[];
  readonly rebuilding: readonly Checks[];
}

async function rounds(
  replica: BloomReplicaMode,
  { url, ids, rebuild, rebuildElsewhere }: Ground,
  { report, pick }: BenchContext,
): Promise<Rounds> {
  const closing: (() => unknown)[] = [];
  const cleanUp = (work: () => unknown) => void closing.push(work);
  const filter = await openFilter(url, { capacity: ids, errorRate: 0.0001, replica }, { cleanUp });
  const isReady = () => (replica === 'leased' ? untilLeased(filter) : delay(500));
  let next = 0;
  const during = (work: () => Promise<unknown>) => checksDuring(filter, () => idText('none', next++), work);
  const idle: Checks[] = [];
  const elsewhere: Checks[] = [];
  const rebuilding: Checks[] = [];
  try {
    await filter.check('none');
    let took = await rebuild();
    await isReady();
    // Warms up.
    await during(() => delay(500));
    const start = performance.now();
    for (let round = 0; round < pick(7, 1); round++) {
      if (round > 0 && performance.now() - start > LONGEST_MS) break;
      const quietMs = Math.min(took.ms, LONGEST_QUIET_MS);
      idle.push(await during(() => delay(quietMs)));
      elsewhere.push(await during(rebuildElsewhere));
      rebuilding.push(
        await during(async () => {
          took = await rebuild();
          // A copy that was not made before the swap is loaded after it.
          await isReady();
        }),
      );
      assert(took.outcome === 'published', 'the rebuild to go live');
    }
  } finally {
    for (const work of closing.reverse()) await work();
  }
  report.figure(`${replica}, no rebuild`, METRIC, median(p999Of(idle)));
  report.figure(`${replica}, a rebuild elsewhere`, METRIC, median(p999Of(elsewhere)));
  report.figure(`${replica}, a rebuild elsewhere`, '× without a rebuild', ratioOf(elsewhere, idle));
  report.figure(`${replica}, during a rebuild`, '× without a rebuild', ratioOf(rebuilding, idle));
  report.figure(`${replica}, no rebuild`, SHARE, 100 * remoteOf(idle));
  report.figure(`${replica}, during a rebuild`, SHARE, 100 * remoteOf(rebuilding));
  return { idle, elsewhere, rebuilding };
}

function p999Of(checks: readonly Checks[]): number[] {
  return checks.map(({ p999Ms }) => p999Ms);
}

function remoteOf(checks: readonly Checks[]): number {
  return median(checks.map(({ remote }) => remote));
}

/** The median of the ratios within a round. */
function ratioOf(some: readonly Checks[], others: readonly Checks[]): number {
  return median(some.map(({ p999Ms }, round) => p999Ms / others[round]!.p999Ms));
}

/** What checks wait while something is done. */
async function checksDuring(
  filter: ManagedFilter,
  nextId: () => string,
  work: () => Promise<unknown>,
): Promise<Checks> {
  let count = 0;
  let isOver = false;
  const before = filter.metrics().lookups.remote;
  const working = work().finally(() => (isOver = true));
  const check = async () => {
    const start = performance.now();
    await filter.check(nextId());
    waits[count++] = performance.now() - start;
  };
  while (!isOver) {
    await Promise.all(Array.from({ length: CALLERS }, check));
    await delay(1);
  }
  await working;
  const remote = (filter.metrics().lookups.remote - before) / count;
  assert(count <= waits.length, 'checks to have room');
  const sorted = waits.subarray(0, count).sort();
  return { p999Ms: sorted[Math.floor(0.999 * count)]!, remote };
}
