import { existsSync } from 'node:fs';
import { assert, type Bench, median } from './harness.js';
import { OtherProcess } from './other-process.js';
import { openFilter, redisBench, sourceOf } from './redis-bench.js';

const ROOM_BYTES = 16 * 1024 * 1024;

interface Started {
  readonly startMs: number;
  readonly readMs: number;
  readonly bytes: number;
  readonly grownBytes: number;
  readonly verdict: string;
}

/** What a process with a leased copy needs: time until it answers by itself, and memory. */
export const bench: Bench = async (context) => {
  const { report, pick } = context;
  if (!existsSync('/proc/self/clear_refs')) {
    context.skip('all of it', 'the peak of a process is read from /proc, which is not here');
    return;
  }
  const ids = pick(10_000_000, 50_000);
  const { url } = await redisBench(context);
  const builder = await openFilter(
    url,
    {
      capacity: ids,
      errorRate: 0.001,
      source: sourceOf(ids),
      replica: 'off',
      leaseMs: 1000,
      rebuild: { drainMs: 0 },
    },
    context,
  );
  assert((await builder.rebuild()).outcome === 'published', 'the filter to be built');
  const started: Started[] = [];
  for (let round = 0; round < pick(7, 1); round++) {
    const process = OtherProcess.start('leased-process.ts', [url], context);
    started.push(await process.answer<Started>());
    await process.ended();
  }
  assert(
    started.every(({ verdict }) => verdict === 'absent'),
    'an absent id to be denied',
  );
  const of = (figure: (one: Started) => number) => median(started.map(figure));
  const metric = `ms from connected to answering, ${(of(({ bytes }) => bytes) / 2 ** 20).toFixed(1)} MiB`;
  report.figure(
    'GETRANGE in a loop',
    metric,
    of(({ readMs }) => readMs),
  );
  report.goal({
    contender: 'ours',
    metric,
    value: of(({ startMs }) => startMs),
    ratio: of(({ startMs, readMs }) => startMs / readMs),
    atMost: 1.5,
    of: '× GETRANGE in a loop',
  });
  report.goal({
    contender: 'ours',
    metric: 'MiB of the process',
    value: of(({ grownBytes }) => grownBytes) / 2 ** 20,
    ratio: of(({ grownBytes, bytes }) => grownBytes / (1.1 * bytes + ROOM_BYTES)),
    atMost: 1,
    of: '× (1.1 × the filter + 16 MiB)',
  });
};
