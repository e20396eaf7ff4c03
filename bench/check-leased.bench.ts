import { assert, type Bench, Comparison, rate } from './harness.js';
import { idTexts } from './ids.js';
import {
  builtFilter,
  coveredFilter,
  inGroups,
  orderedId,
  redisBench,
  serverTime,
  untilLeased,
  writeValues,
} from './redis-bench.js';

const TOGETHER = 200;
const COVERED = 'ours, covered';
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

  const onOther = await redisBench(context);
  const covered = await coveredFilter(onOther.url, ids, context);
  const between = Array.from({ length: asked.length }, (_, i) => orderedId(i % (ids / 2)) + 1);
  const deniedUpToMark = (await covered.checkMany(between)).filter((verdict) => verdict === 'absent').length;
  assert(deniedUpToMark >= between.length * 0.99, 'a covered copy to deny absent ids');

  const ours = () => inGroups(asked, TOGETHER, (id) => filter.check(id));
  const oursCovered = () => inGroups(between, TOGETHER, (id) => covered.check(id));
  const result = await Comparison.run(
    [
      { name: 'ours', measure: () => rate(asked.length, ours) },
      { name: COVERED, measure: () => rate(asked.length, oursCovered) },
      {
        name: 'raw GET',
        measure: () => rate(keys.length, () => inGroups(keys, TOGETHER, (key) => client.get(key))),
      },
    ],
    pick(7, 1),
  );
  result.reportOthers(report, METRIC, ['ours', COVERED]);
  result.expectTimes(report, { metric: METRIC, to: 'raw GET', atLeast: 15 });
  result.expectTimes(report, { ours: COVERED, metric: METRIC, to: 'raw GET', atLeast: 15 });
  await untilLeased(filter);
  // What keeps a lease or hears of a mark are the only commands, some in a second.
  for (const [contender, server, check] of [
    ['ours', client, ours],
    [COVERED, onOther.client, oursCovered],
  ] as const) {
    await server.config('RESETSTAT');
    await check();
    const { calls } = await serverTime(server, 'getrange');
    const metric = `blocks read for ${asked.length} checks`;
    // Those of the largest gaps are not covered.
    const atMost = contender === COVERED ? asked.length - deniedUpToMark : 0;
    report.goal({ contender, metric, value: calls, ratio: calls, atMost, of: 'blocks' });
  }
};
