import { assert, type Bench, Comparison, rate } from './harness.js';
import { BitopWay } from './bitop-way.js';
import { BlockScripts } from './block-scripts.js';
import { GoZeroWay } from './go-zero.js';
import { idTexts } from './ids.js';
import { builtFilter, inGroups, redisBench } from './redis-bench.js';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(1_000_000, 20_000);
  const count = pick(20_000, 1000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001 }, context);
  const goZero = new GoZeroWay(client, 'go-zero', ids);
  await goZero.prepare();
  // Ids that nobody has added before, in every round of every contender: an add of what is there writes
  // nothing.
  let next = ids;
  const fresh = () => idTexts('prod', count, (next += count));

  const some = fresh();
  assert((await filter.addMany(some)).filter(Boolean).length > count * 0.98, 'ours to add new ids');
  assert(!(await filter.checkMany(some)).includes('absent'), 'ours to find what was added');
  for (const id of some.slice(0, 50)) await goZero.add(id);
  assert(await goZero.has(some[49]!), "go-zero's way to find what was added");

  const bitop = await BitopWay.on(client, url);
  const more = fresh();
  assert((await bitop.addMany(more)) > count * 0.98, 'BITOP to add new ids');
  assert(!(await filter.checkMany(more)).includes('absent'), 'ours to find what BITOP has added');

  const measure = (work: (items: readonly string[]) => Promise<unknown>) => () => {
    const items = fresh();
    return rate(count, () => work(items));
  };
  const inThousands = async (
    items: readonly string[],
    add: (some: readonly string[]) => Promise<unknown>,
  ) => {
    for (let at = 0; at < items.length; at += 1000) await add(items.slice(at, at + 1000));
  };
  const scripts = await BlockScripts.on(client);
  const calls = await Promise.all(Array.from({ length: count / 250 }, () => scripts.records(250)));
  const readAndWrite = () => inGroups(calls, 4, (call) => scripts.readAndWrite(call));
  const result = await Comparison.run(
    [
      { name: 'ours, add', measure: measure((items) => inGroups(items, 200, (id) => filter.add(id))) },
      {
        name: 'ours, addMany',
        measure: measure((items) => inThousands(items, (some) => filter.addMany(some))),
      },
      {
        name: "go-zero's way, 200",
        measure: measure((items) => inGroups(items, 200, (id) => goZero.add(id))),
      },
      {
        name: "go-zero's way, 1000",
        measure: measure((items) => inGroups(items, 1000, (id) => goZero.add(id))),
      },
      { name: 'BITOP', measure: measure((items) => inThousands(items, (some) => bitop.addMany(some))) },
      { name: 'limit: read and write', measure: () => rate(count, readAndWrite) },
    ],
    pick(7, 1),
  );
  result.reportOthers(report, 'adds/s', ['ours, add', 'ours, addMany']);
  const single = { ours: 'ours, add', metric: 'adds/s, 200 at a time' };
  result.expectTimes(report, { ...single, to: "go-zero's way, 200", atLeast: 1.5 });
  const many = { ours: 'ours, addMany', metric: 'adds/s, addMany(1000)' };
  result.expectTimes(report, { ...many, to: "go-zero's way, 1000", atLeast: 2.3 });
};
