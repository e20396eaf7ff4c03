import { assert, type Bench, Comparison, rate } from './harness.js';
import { somePresent } from './ids.js';
import {
  builtFilter,
  commandsSent,
  inGroups,
  redisBench,
  untilReplicaAnswers,
  writeValues,
} from './redis-bench.js';

const TOGETHER = 200;
const METRIC = 'checks/s, 200 at a time';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001, replica: 'verified' }, context);
  const asked = somePresent(pick(100_000, 1000), ids);
  await writeValues(client, 20_000);
  const keys = Array.from({ length: pick(20_000, 1000) }, (_, i) => `value:${i}`);
  await untilReplicaAnswers(client, () => filter.check(asked[0]!));
  const verdicts = await filter.checkMany(asked);
  assert(
    verdicts.every((verdict) => verdict === 'maybe'),
    'ours to find every id',
  );

  const result = await Comparison.run(
    [
      {
        name: 'ours',
        measure: () => rate(asked.length, () => inGroups(asked, TOGETHER, (id) => filter.check(id))),
      },
      {
        name: 'raw GET',
        measure: () => rate(keys.length, () => inGroups(keys, TOGETHER, (key) => client.get(key))),
      },
    ],
    pick(7, 1),
  );
  result.reportOthers(report, METRIC);
  result.expectTimes(report, { metric: METRIC, to: 'raw GET', atLeast: 15 });
  await client.config('RESETSTAT');
  await inGroups(asked, TOGETHER, (id) => filter.check(id));
  const commands = await commandsSent(client);
  report.goal({
    contender: 'ours',
    metric: `commands for ${asked.length} checks`,
    value: commands,
    ratio: commands,
    atMost: 0,
    of: 'commands',
  });
};
