import { Worker } from 'node:worker_threads';
import { setTimeout as delay } from 'node:timers/promises';
import { assert, type Bench, median } from './harness.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, sourceOf } from './redis-bench.js';

interface Waits {
  readonly longestMs: number;
  readonly p999Ms: number;
}

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 50_000);
  const { url } = await redisBench(context);
  const filter = await openFilter(
    url,
    { capacity: ids, errorRate: 0.0001, source: sourceOf(ids), replica: 'off', rebuild: { drainMs: 0 } },
    context,
  );
  const other = OtherProcess.start('waiting-client.ts', [url], context);
  await other.answer();
  const during = async (work: () => Promise<unknown>) => {
    await other.ask('start');
    await work();
    return other.ask<Waits>('stop');
  };
  // From the second one on there is an old generation to swap and to remove.
  const start = performance.now();
  assert((await filter.rebuild()).outcome === 'published', 'the rebuild to go live');
  const tookMs = performance.now() - start;

  const idle: Waits[] = [];
  const busy: Waits[] = [];
  const rebuilding: Waits[] = [];
  for (let round = 0; round < pick(3, 1); round++) {
    idle.push(await during(() => delay(tookMs)));
    busy.push(await during(() => spin(tookMs)));
    rebuilding.push(await during(() => filter.rebuild()));
  }
  const longest = (waits: readonly Waits[]) => median(waits.map(({ longestMs }) => longestMs));
  const p999 = (waits: readonly Waits[]) => median(waits.map(({ p999Ms }) => p999Ms));
  report.figure('idle', 'longest wait, ms', longest(idle));
  report.figure('a busy processor', 'longest wait, ms', longest(busy));
  report.figure('idle', '99.9 % of waits, ms', p999(idle));
  report.figure('a busy processor', '99.9 % of waits, ms', p999(busy));
  report.figure('during our rebuild', '99.9 % of waits, ms', p999(rebuilding));
  report.goal({
    contender: 'during our rebuild',
    metric: 'longest wait, ms',
    value: longest(rebuilding),
    ratio: longest(rebuilding) - longest(idle),
    atMost: 5,
    of: 'ms above idle',
  });
};

/** A thread that computes all the time and leaves Redis alone: what the machine itself adds to a wait. */
async function spin(ms: number): Promise<void> {
  const worker = new Worker('for (;;);', { eval: true });
  await delay(ms);
  await worker.terminate();
}
