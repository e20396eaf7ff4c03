import { BlockedFilter, createGeneration, planFilter } from '../src/filter/index.js';
import { assert, type Bench, Comparison, type Contender, rate } from './harness.js';
import { GoZeroWay } from './go-zero.js';
import { idTexts } from './ids.js';
import { inGroups, openFilter, redisBench } from './redis-bench.js';
import { RedisBloom } from './redisbloom.js';

const ERROR_RATE = 0.0001;
const BATCH = 10_000;
const METRIC = 'ids/s';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const count = pick(10_000_000, 50_000);
  const batches = Array.from({ length: count / BATCH }, (_, i) => idTexts('prod', BATCH, i * BATCH));
  const some = batches.slice(0, pick(20, 1)).flat();
  const { url, client } = await redisBench(context);
  const goZero = new GoZeroWay(client, 'go-zero', count);
  await goZero.prepare();
  const source = {
    async *ids() {
      yield* batches;
    },
  };
  const plan = { capacity: count, errorRate: ERROR_RATE };
  const filter = await openFilter(url, { ...plan, source, replica: 'off', rebuild: { drainMs: 0 } }, context);
  await filter.rebuild();
  assert((await filter.info()).count >= count * 0.999, 'the rebuild to read every id');
  assert(!(await filter.checkMany(some)).includes('absent'), 'every id to be found');

  const contenders: Contender[] = [
    { name: 'ours', measure: () => rate(count, () => filter.rebuild()) },
    {
      name: 'the local loop',
      measure: () =>
        rate(count, () => {
          const local = new BlockedFilter(createGeneration(planFilter(plan)));
          for (const batch of batches) for (const id of batch) local.add(id);
        }),
    },
    {
      name: "go-zero's add loop",
      measure: () =>
        rate(some.length / 10, async () => {
          for (const id of some.slice(0, some.length / 10)) await goZero.add(id);
        }),
    },
    {
      name: "go-zero's adds, 200",
      measure: () => rate(some.length, () => inGroups(some, 200, (id) => goZero.add(id))),
    },
  ];
  if (process.env.BLOOM_BENCH_BF_URL) contenders.push(madd(some, context));
  else context.skip('BF.MADD', 'BLOOM_BENCH_BF_URL names no server that has it');
  const result = await Comparison.run(contenders, pick(3, 1));
  result.reportOthers(report, METRIC);
  result.expectTimes(report, { metric: METRIC, to: "go-zero's add loop", atLeast: 100 });
  result.expectTimes(report, { metric: METRIC, to: 'BF.MADD', atLeast: 2 });
  result.expectTimes(report, { metric: METRIC, to: 'the local loop', atLeast: 0.4 });
};

function madd(ids: readonly string[], context: Parameters<Bench>[0]): Contender {
  const measure = async () => {
    const filter = await RedisBloom.start({ ids: ids.length, errorRate: ERROR_RATE }, context);
    return rate(ids.length, () => filter!.fill(ids));
  };
  return { name: 'BF.MADD', measure };
}
