import { assert, type Bench, Comparison } from './harness.js';
import { OtherProcess } from './other-process.js';
import { builtFilter, redisBench } from './redis-bench.js';

const METRIC = 'calls/s of processor time';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const calls = pick(200_000, 2000);
  const { url } = await redisBench(context);
  await builtFilter(url, { ids, errorRate: 0.001 }, context);
  const rounds = pick(21, 1);

  async function start(mode: 'counted' | 'uncounted'): Promise<OtherProcess> {
    const words = [url, mode, String(ids), String(calls)];
    const process = OtherProcess.start('counting-process.ts', words, context);
    await process.answer();
    return process;
  }
  const counted = await start('counted');
  const uncounted = await start('uncounted');
  const result = await Comparison.run(
    [
      { name: 'ours', measure: () => counted.ask<number>('measure') },
      { name: 'nothing counted', measure: () => uncounted.ask<number>('measure') },
    ],
    rounds,
  );
  const least = calls * (rounds + 1);
  const { maybe, local } = await counted.ask<{ maybe: number; local: number }>('counts');
  assert(maybe >= least && local >= least, 'each call to be counted');
  assert((await uncounted.ask<{ maybe: number }>('counts')).maybe === 0, 'nothing to be counted');
  result.reportOthers(report, METRIC);
  report.goal({
    contender: 'ours',
    metric: METRIC,
    value: result.median('ours'),
    ratio: result.ratio('nothing counted', 'ours'),
    atMost: 1.03,
    of: '× the time without counting',
  });
};
