import { assert, type Bench, Comparison } from './harness.js';
import { OtherProcess } from './other-process.js';
import { builtFilter, redisBench } from './redis-bench.js';

const METRIC = 'calls/s of processor time';
/** Until the code is compiled for good. */
const WARM_UPS = 5;

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const calls = pick(200_000, 2000);
  const { url } = await redisBench(context);
  await builtFilter(url, { ids, errorRate: 0.001 }, context);
  const pairs = pick(6, 1);
  const rounds = 4 * pairs;

  async function start(mode: 'counted' | 'uncounted'): Promise<OtherProcess> {
    const words = [url, mode, String(ids), String(calls)];
    const process = OtherProcess.start('counting-process.ts', words, context);
    await process.answer();
    for (let i = 0; i < WARM_UPS; i++) await process.ask('measure');
    return process;
  }
  // Two processes of the same program differ by more than what counting costs: by how they were compiled, and
  // by where their memory is.
  const counted: OtherProcess[] = [];
  const uncounted: OtherProcess[] = [];
  for (let i = 0; i < pairs; i++) {
    counted.push(await start('counted'));
    uncounted.push(await start('uncounted'));
  }
  const inTurns = (processes: readonly OtherProcess[]) => {
    let turn = 0;
    return () => processes[turn++ % pairs]!.ask<number>('measure');
  };
  const result = await Comparison.run(
    [
      { name: 'ours', measure: inTurns(counted) },
      { name: 'nothing counted', measure: inTurns(uncounted) },
    ],
    rounds,
  );
  const { maybe, local } = await counted[0]!.ask<{ maybe: number; local: number }>('counts');
  assert(maybe >= calls * WARM_UPS && local >= calls * WARM_UPS, 'each call to be counted');
  assert((await uncounted[0]!.ask<{ maybe: number }>('counts')).maybe === 0, 'nothing to be counted');
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
