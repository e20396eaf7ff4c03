import { setTimeout as delay } from 'node:timers/promises';
import type { ManagedFilter } from '../src/service/index.js';
import { assert, type Bench, type BenchContext, median } from './harness.js';
import { idText } from './ids.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, untilLeased } from './redis-bench.js';

/** Checks under way at once, again each millisecond. */
const CALLERS = 10;
const METRIC = 'ms a check, 99.9 %';
const LEASE_MS = 1000;

/** Checks of absent ids while another process rebuilds the filter and swaps it in, with a leased copy and with one that is not. */
export const bench: Bench = async (context) => {
  for (const replica of ['leased', 'verified'] as const) await measure(replica, context);
};

async function measure(replica: 'leased' | 'verified', context: BenchContext): Promise<void> {
  const { report, pick } = context;
  const ids = pick(10_000_000, 50_000);
  const { url } = await redisBench(context);
  const leaseMs = replica === 'leased' ? LEASE_MS : 0;
  const rebuilder = OtherProcess.start('rebuilder-app.ts', [url, String(ids), String(leaseMs)], context);
  await rebuilder.answer();
  const rebuild = () => rebuilder.ask<{ outcome: string; ms: number }>('rebuild');
  let took = await rebuild();
  assert(took.outcome === 'published', 'the filter to be built');
  const filter = await openFilter(url, { capacity: ids, errorRate: 0.0001, replica }, context);
  if (replica === 'leased') await untilLeased(filter);
  let next = 0;
  const during = (work: () => Promise<unknown>) => waitsDuring(filter, () => idText('none', next++), work);
  await during(() => delay(took.ms));
  const idle: number[] = [];
  const rebuilding: number[] = [];
  for (let round = 0; round < pick(5, 1); round++) {
    idle.push(await during(() => delay(took.ms)));
    rebuilding.push(await during(async () => (took = await rebuild())));
    if (replica === 'leased') await untilLeased(filter);
  }
  report.figure(`${replica}, no rebuild`, METRIC, median(idle));
  report.goal({
    contender: `${replica}, during a rebuild`,
    metric: METRIC,
    value: median(rebuilding),
    ratio: median(rebuilding.map((one, round) => one / idle[round]!)),
    atMost: 1.5,
    of: '× without a rebuild',
  });
}

/** The 99.9th percentile of what checks wait, while something is done. */
async function waitsDuring(
  filter: ManagedFilter,
  nextId: () => string,
  work: () => Promise<unknown>,
): Promise<number> {
  const waits: number[] = [];
  let isOver = false;
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
  waits.sort((a, b) => a - b);
  return waits[Math.floor(0.999 * waits.length)]!;
}
