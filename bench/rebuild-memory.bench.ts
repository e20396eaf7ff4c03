import { existsSync } from 'node:fs';
import { assert, type Bench } from './harness.js';
import { OtherProcess } from './other-process.js';
import { redisBench } from './redis-bench.js';

const ROOM_BYTES = 64 * 1024 * 1024;

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  if (!existsSync('/proc/self/clear_refs')) {
    context.skip('all of it', 'the peak of a process is read from /proc, which is not here');
    return;
  }
  for (const ids of pick([1_000_000, 10_000_000, 50_000_000], [50_000])) {
    const { url } = await redisBench(context);
    const process = OtherProcess.start('rebuilding-process.ts', [url, String(ids)], context);
    const answer = await process.answer<{ grownBytes: number; filterBytes: number; delayP99Ms: number }>();
    const { grownBytes, filterBytes, delayP99Ms } = answer;
    assert(filterBytes > ids, 'the rebuild to go live');
    const metric = `MiB for ${ids.toLocaleString('en')} ids`;
    report.figure('the filter', metric, filterBytes / 2 ** 20);
    report.goal({
      contender: 'ours',
      metric,
      value: grownBytes / 2 ** 20,
      ratio: grownBytes / (1.3 * filterBytes + ROOM_BYTES),
      atMost: 1,
      of: '× (1.3 × the filter + 64 MiB)',
    });
    report.goal({
      contender: 'ours',
      metric: `ms of event-loop delay, 99 %, ${ids.toLocaleString('en')} ids`,
      value: delayP99Ms,
      ratio: delayP99Ms,
      atMost: 20,
      of: 'ms',
    });
  }
};
