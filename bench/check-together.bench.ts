import { createClient } from 'redis';
import { fromNodeRedis } from '../packages/node-redis/src/index.js';
import { assert, type Bench, Comparison, type Contender, rate } from './harness.js';
import { BlockScripts } from './block-scripts.js';
import { GoZeroWay } from './go-zero.js';
import { idTexts, somePresent } from './ids.js';
import { RedisBloom } from './redisbloom.js';
import { builtFilter, inGroups, openFilter, redisBench, writeValues } from './redis-bench.js';

const TOGETHER = 200;
const METRIC = 'checks/s, 200 at a time';
const ON_NODE_REDIS = 'ours on node-redis';

export const bench: Bench = async (context) => {
  const { report, pick } = context;
  const ids = pick(10_000_000, 20_000);
  const { url, client } = await redisBench(context);
  const filter = await builtFilter(url, { ids, errorRate: 0.0001 }, context);
  const onNodeRedis = await openFilter(
    fromNodeRedis(createClient({ url })),
    { capacity: ids, errorRate: 0.0001, replica: 'off' },
    context,
  );
  const asked = somePresent(pick(40_000, 1000), ids);
  const goZero = new GoZeroWay(client, 'go-zero', ids);
  await goZero.prepare();
  await goZero.fill(asked);
  await writeValues(client, asked.length);
  const keys = asked.map((_, i) => `value:${i}`);
  const scripts = await BlockScripts.on(client);
  const calls = await Promise.all(
    Array.from({ length: asked.length / TOGETHER }, () => scripts.records(TOGETHER)),
  );
  assert((await scripts.read(calls[0]!)).length === TOGETHER, 'the script to read every block');
  const redisBloom = await RedisBloom.start({ ids: pick(1_000_000, 20_000), errorRate: 0.0001 }, context);
  await redisBloom?.fill(asked);

  for (const id of asked.slice(0, 200)) {
    assert((await filter.check(id)) === 'maybe', 'ours to find every id');
    assert((await onNodeRedis.check(id)) === 'maybe', 'ours on node-redis to find every id');
  }
  for (const id of asked.slice(0, 200)) {
    assert(await goZero.has(id), "go-zero's way to find every id");
    assert(await goZero.hasByBitfield(id), 'BITFIELD_RO to find every id');
    assert((await redisBloom?.has(id)) !== false, 'BF.EXISTS to find every id');
  }
  for (const id of idTexts('none', 50)) assert(!(await goZero.has(id)), "go-zero's way to deny absent ids");

  const contender = (
    name: string,
    items: readonly string[],
    work: (item: string) => Promise<unknown>,
  ): Contender => ({
    name,
    measure: () => rate(items.length, () => inGroups(items, TOGETHER, work)),
  });
  const contenders = [
    contender('ours', asked, (id) => filter.check(id)),
    contender(ON_NODE_REDIS, asked, (id) => onNodeRedis.check(id)),
    contender('raw GET', keys, (key) => client.get(key)),
    contender("go-zero's way", asked, (id) => goZero.has(id)),
    contender('BITFIELD_RO', asked, (id) => goZero.hasByBitfield(id)),
  ];
  contenders.push({
    name: 'limit: the script',
    measure: () => rate(asked.length, () => inGroups(calls, 1, (call) => scripts.read(call))),
  });
  if (redisBloom) contenders.push(contender('BF.EXISTS', asked, (id) => redisBloom.has(id)));
  const result = await Comparison.run(contenders, pick(7, 1));
  result.reportOthers(report, METRIC);
  result.expectTimes(report, { metric: METRIC, to: 'raw GET', atLeast: 2 });
  result.expectTimes(report, { metric: METRIC, to: "go-zero's way", atLeast: 3.8 });
  result.expectTimes(report, { ours: ON_NODE_REDIS, metric: METRIC, to: 'ours', atLeast: 0.9 });

  const lone = asked.slice(0, pick(5000, 200));
  const alone = (name: string, checked: typeof filter): Contender => ({
    name,
    measure: () => rate(lone.length, () => inGroups(lone, 1, (id) => checked.check(id))),
  });
  const oneAtATime = await Comparison.run(
    [alone('ours', filter), alone(ON_NODE_REDIS, onNodeRedis)],
    pick(7, 1),
  );
  const metric = 'checks/s, one at a time';
  oneAtATime.reportOthers(report, metric);
  oneAtATime.expectTimes(report, { ours: ON_NODE_REDIS, metric, to: 'ours', atLeast: 0.9 });
};
