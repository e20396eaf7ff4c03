import { assert, type Bench, Comparison, rate } from './harness.js';
import { idTexts, somePresent } from './ids.js';
import { builtFilter, inGroups, redisBench, writeValues } from './redis-bench.js';

const TOGETHER = 1000;
const METRIC = 'checks/s, checkMany(1000)';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001 }, context);
  const asked = [...somePresent(pick(40_000, 1000), ids)];
  idTexts('none', asked.length / 2).forEach((id, i) => (asked[2 * i] = id));
  const verdicts = await filter.checkMany(asked);
  assert(
    verdicts.every((verdict, i) => i % 2 === 0 || verdict === 'maybe'),
    'ours to find every id',
  );
  await writeValues(client, asked.length);
  const keys = asked.map((_, i) => `value:${i}`);
  const ours = async () => {
    for (let at = 0; at < asked.length; at += TOGETHER)
      await filter.checkMany(asked.slice(at, at + TOGETHER));
  };
  const result = await Comparison.run(
    [
      { name: 'ours', measure: () => rate(asked.length, ours) },
      {
        name: 'raw GET',
        measure: () => rate(keys.length, () => inGroups(keys, TOGETHER, (key) => client.get(key))),
      },
    ],
    pick(7, 1),
  );
  result.reportOthers(report, METRIC);
  result.expectTimes(report, { metric: METRIC, to: 'raw GET', atLeast: 2.6 });
};
