import { assert, type Bench, Comparison, type Contender } from './harness.js';
import { GoZeroWay } from './go-zero.js';
import { somePresent } from './ids.js';
import { builtFilter, inGroups, redisBench, serverTime, writeValues } from './redis-bench.js';

const METRIC = 'µs of the server per check';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001 }, context);
  const asked = somePresent(pick(10_000, 1000), ids);
  const goZero = new GoZeroWay(client, 'go-zero', ids);
  await goZero.prepare();
  await goZero.fill(asked);
  await writeValues(client, asked.length);
  const keys = asked.map((_, i) => `value:${i}`);
  assert(await goZero.has(asked[0]!), "go-zero's way to find every id");

  const contender = (name: string, command: string, work: () => Promise<unknown>): Contender => ({
    name,
    measure: async () => {
      await client.config('RESETSTAT');
      await work();
      return (await serverTime(client, command)).micros / asked.length;
    },
  });
  const result = await Comparison.run(
    [
      contender('ours, one at a time', 'getrange', async () => {
        for (const id of asked) await filter.check(id);
      }),
      contender('ours, 200 at a time', 'evalsha', () => inGroups(asked, 200, (id) => filter.check(id))),
      contender("go-zero's way", 'evalsha', () => inGroups(asked, 200, (id) => goZero.has(id))),
      contender('raw GET', 'get', () => inGroups(keys, 200, (key) => client.get(key))),
    ],
    pick(5, 1),
  );
  const ours = ['ours, one at a time', 'ours, 200 at a time'];
  result.reportOthers(report, METRIC, ours);
  result.expectTimes(report, { ours: ours[0]!, metric: METRIC, to: "go-zero's way", atMost: 0.1 });
  result.expectTimes(report, { ours: ours[1]!, metric: METRIC, to: "go-zero's way", atMost: 0.25 });
};
