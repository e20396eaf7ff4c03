import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
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
/** For one way to have a copy; a machine with other work ends with fewer rounds. At least one round is run. */
const LONGEST_MS = 60_000;
/** Without a rebuild. */
const LONGEST_QUIET_MS = 10_000;

type Rebuild = () => Promise<{ outcome: string; ms: number }>;

interface Checks {
  readonly p999Ms: number;
  /** Share of the checks that Redis answered. */
  readonly remote: number;
}

/** Checks of absent ids while another process rebuilds the filter and swaps it in, with a copy that is not leased and with one that is. */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 50_000);
  const { url } = await redisBench(context);
  const rebuild = await rebuilder(url, ids, context);
  const rebuildElsewhere = await rebuilder((await redisBench(context)).url, ids, context);
  const ground = { url, ids, rebuild, rebuildElsewhere };

  const verified = await rounds('verified', ground, context);
  report.goal({
    contender: 'verified, during a rebuild',
    metric: METRIC,
    value: median(verified.rebuilding),
    ratio: ratioOf(verified.rebuilding, verified.idle),
    atMost: 1.5,
    of: '× without a rebuild',
  });
  const leased = await rounds('leased', ground, context);
  report.figure('leased, during a rebuild', '× without a rebuild', ratioOf(leased.rebuilding, leased.idle));
  // No check leaves the process. A rebuild takes processor time from it, as one of another filter on another server does.
  report.goal({
    contender: 'leased, during a rebuild',
    metric: METRIC,
    value: median(leased.rebuilding),
    ratio: ratioOf(leased.rebuilding, leased.elsewhere),
    atMost: 1.5,
    of: '× during a rebuild elsewhere',
  });
  report.goal({
    contender: 'leased, during a rebuild',
    metric: SHARE,
    value: leased.remote,
    ratio: leased.remote,
    atMost: MOST_REMOTE,
    of: '%',
  });
};

/** Builds the filter on this server, and then again each time that it is called, in a process of its own. */
async function rebuilder(url: string, ids: number, context: BenchContext): Promise<Rebuild> {
  const process = OtherProcess.start('rebuilder-app.ts', [url, String(ids), String(LEASE_MS)], context);
  await process.answer();
  const rebuild: Rebuild = () => process.ask('rebuild');
  assert((await rebuild()).outcome === 'published', 'the filter to be built');
  return rebuild;
}

interface Ground {
  readonly url: string;
  readonly ids: number;
  readonly rebuild: Rebuild;
  /** Of another filter on another server, by another process. */
  readonly rebuildElsewhere: Rebuild;
}

interface Rounds {
  readonly idle: readonly number[];
  readonly elsewhere: readonly number[];
  readonly rebuilding: readonly number[];
  /** Percentage of the checks during a rebuild that Redis answered. */
  readonly remote: number;
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
  const busy: Checks[] = [];
  const elsewhere: Checks[] = [];
  const rebuilding: Checks[] = [];
  try {
    await filter.check('none');
    let took = await rebuild();
    await isReady();
    // Warms up.
    await during(() => delay(500));
    const start = performance.now();
    for (let round = 0; round < pick(5, 1); round++) {
      if (round > 0 && performance.now() - start > LONGEST_MS) break;
      const quietMs = Math.min(took.ms, LONGEST_QUIET_MS);
      idle.push(await during(() => delay(quietMs)));
      busy.push(await during(() => spin(quietMs)));
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
  const p999 = (checks: readonly Checks[]) => checks.map(({ p999Ms }) => p999Ms);
  report.figure(`${replica}, no rebuild`, METRIC, median(p999(idle)));
  report.figure(`${replica}, a busy processor`, METRIC, median(p999(busy)));
  report.figure(`${replica}, a rebuild elsewhere`, METRIC, median(p999(elsewhere)));
  const remote = 100 * remoteOf(rebuilding);
  report.figure(`${replica}, no rebuild`, SHARE, 100 * remoteOf(idle));
  report.figure(`${replica}, during a rebuild`, SHARE, remote);
  return { idle: p999(idle), elsewhere: p999(elsewhere), rebuilding: p999(rebuilding), remote };
}

function remoteOf(checks: readonly Checks[]): number {
  return median(checks.map(({ remote }) => remote));
}

function ratioOf(some: readonly number[], others: readonly number[]): number {
  return median(some.map((one, round) => one / others[round]!));
}

/** What checks wait while something is done. */
async function checksDuring(
  filter: ManagedFilter,
  nextId: () => string,
  work: () => Promise<unknown>,
): Promise<Checks> {
  const waits: number[] = [];
  let isOver = false;
  const before = filter.metrics().lookups.remote;
  const working = work().finally(() => (isOver = true));
  const check = async () => {
    const start = performance.now();
    await filter.check(nextId());
    waits.push(performance.now() - start);
  };
  while (!isOver) {
    await Promise.all(Array.from({ length: CALLERS }, check));
    await delay(1);
  }
  await working;
  const remote = (filter.metrics().lookups.remote - before) / waits.length;
  waits.sort((a, b) => a - b);
  return { p999Ms: waits[Math.floor(0.999 * waits.length)]!, remote };
}

/** A thread that computes all the time and leaves Redis alone: what the machine itself adds to a wait. */
async function spin(ms: number): Promise<void> {
  const worker = new Worker('for (;;);', { eval: true });
  await delay(ms);
  await worker.terminate();
}
