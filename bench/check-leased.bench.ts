import { assert, type Bench, Comparison, rate } from './harness.js';
import { idTexts } from './ids.js';
import { builtFilter, inGroups, redisBench, serverTime, untilLeased, writeValues } from './redis-bench.js';

const TOGETHER = 200;
const METRIC = 'absent ids/s, 200 at a time';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001, replica: 'leased' }, context);
  const asked = idTexts('none', pick(100_000, 1000));
  await writeValues(client, 20_000);
  const keys = Array.from({ length: pick(20_000, 1000) }, (_, i) => `value:${i}`);
  await untilLeased(filter);
  const denied = (await filter.checkMany(asked)).filter((verdict) => verdict === 'absent').length;
  assert(denied >= asked.length * 0.998, 'ours to deny absent ids');

  const ours = () => inGroups(asked, TOGETHER, (id) => filter.check(id));
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
  result.expectTimes(report, { metric: METRIC, to: 'raw GET', atLeast: 15 });
  await untilLeased(filter);
  await client.config('RESETSTAT');
  await ours();
  // Renewals of the lease are the only commands, some in a second.
  const { calls } = await serverTime(client, 'getrange');
  report.goal({
    contender: 'ours',
    metric: `blocks read for ${asked.length} checks`,
    value: calls,
    ratio: calls,
    atMost: 0,
    of: 'blocks',
  });
};
