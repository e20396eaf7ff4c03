import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { planLayer, scaling } from '../../../src/scaling/index.js';
import { build, idsOf, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { commandsFrom, type Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { SCALING_TRAITS } from '../../support/scaling-traits.js';
import { describeStoreContract } from '../../../../../test/store/contract/store-contract.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

const layout = scaling();
const target = { capacity: 500, errorRate: 0.01 };

function open(name: string): Promise<Instance> {
  return redis.open(name, {}, { layout });
}

/** What the metadata say: ids of each layer, and their capacities. */
async function layersOf(name: string): Promise<{ ids: number; capacity: number }[]> {
  const meta = await admin.hgetall(`bloom:{${name}}:meta`);
  const { layers } = JSON.parse(meta.settings!) as { layers: { capacity: number }[] };
  return layers.map(({ capacity }, index) => ({ ids: Number(meta[`layer.${index}`]), capacity }));
}

describeStoreContract('A filter that grows, in Redis', async () => (await open(redis.name())).filter, {
  ...SCALING_TRAITS,
  takesAddsUnready: false,
});

describe('A filter in Redis that grew', () => {
  it('has its ids in layers, none of which holds more than it should, and knows how many', async () => {
    const name = redis.name();
    const { filter } = await open(name);
    await build(filter, [], target);
    const ids = idsOf('added', 20_000);
    const added = await filter.add(ids);
    expect(added.filter(Boolean).length).toBeGreaterThan(19_800);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    const layers = await layersOf(name);
    expect(layers.length).toBeGreaterThan(4);
    for (const { ids, capacity } of layers) expect(ids).toBeLessThanOrEqual(capacity);
    const found = await filter.describe();
    expect(found.count).toBe(layers.reduce((sum, { ids }) => sum + ids, 0));
    expect(found.count).toBe(added.filter(Boolean).length);
    expect(found.capacity).toBe(layers.reduce((sum, { capacity }) => sum + capacity, 0));
    expect(found.capacity).toBeGreaterThanOrEqual(found.count);
    const bytes = layers.map((_, index) => planLayer(target, index)!.bytes);
    expect(found.shape!.bytes).toBe(bytes.reduce((sum, one) => sum + one, 0));
    expect(found.shape!.modelledErrorRate).toBeLessThan(0.01);
    const passed = (await filter.check(idsOf('other', 20_000))).filter(
      (verdict) => verdict !== 'absent',
    ).length;
    const expected = 20_000 * found.shape!.modelledErrorRate;
    expect(Math.abs(passed - expected)).toBeLessThan(5 * Math.sqrt(expected));
    expect(await filter.add(ids.slice(0, 1000))).toEqual(Array(1000).fill(false));
  });

  it('opens layers by the limit of the process that adds, whichever made the filter', async () => {
    const name = redis.name();
    const limited = (maxCapacity: number) => redis.open(name, {}, { layout: scaling({ maxCapacity }) });
    const small = await limited(1000);
    await build(small.filter, [], target);
    await small.filter.add(idsOf('first', 3000));
    const capacities = async () => (await layersOf(name)).map(({ capacity }) => capacity);
    expect(await capacities()).toEqual([500, 500]);
    const ids = [...idsOf('first', 3000), ...idsOf('second', 5000)];
    const large = await limited(20_000);
    // Less than the first layer takes, as of a process with a smaller capacity of its own.
    const tiny = await limited(300);
    await large.filter.add(ids.slice(3000));
    const grown = await capacities();
    expect(grown.length).toBeGreaterThan(2);
    await Promise.all([small, tiny].map(({ filter }) => filter.add(idsOf('third', 3000))));
    expect((await capacities()).slice(0, grown.length)).toEqual(grown);
    for (const { filter } of [small, large, tiny]) {
      expect(new Set(await filter.check([...ids, ...idsOf('third', 3000)]))).toEqual(new Set(['maybe']));
    }
    const { settings } = await admin.hgetall(`bloom:{${name}}:meta`);
    expect(settings).not.toContain('maxCapacity');
  });

  it('answers in one round trip', async () => {
    const name = redis.name();
    const { filter } = await open(name);
    await build(filter, [], target);
    await filter.add(idsOf('added', 5000));
    await filter.check(['warm']);
    await eventually(
      'no layer is being opened',
      async () => (await admin.exists(`bloom:{${name}}:lease`)) === 0,
    );
    expect((await layersOf(name)).length).toBeGreaterThan(2);
    const commands = await commandsFrom(admin, filter);
    expect(await filter.check(['added-7'])).toEqual(['maybe']);
    expect(await filter.check(idsOf('added', 30))).toEqual(Array(30).fill('maybe'));
    expect((await commands()).evalsha).toBe(2);
  });

  it('never denies an id that was acknowledged, while several processes open layers', async () => {
    const name = redis.name();
    const adders = await Promise.all(Array.from({ length: 4 }, () => open(name)));
    const reader = await open(name);
    await build(reader.filter, [], target);
    const acknowledged: string[] = [];
    let denied = 0;
    let done = false;
    const work = adders.map(async ({ filter }, adder) => {
      for (let round = 0; round < 30; round++) {
        const some = idsOf(`${adder}-${round}`, round % 3 === 0 ? 1 : 150);
        await filter.add(some);
        acknowledged.push(...some);
      }
    });
    const reading = (async () => {
      while (!done) {
        const known = acknowledged.slice(-300);
        const verdicts = await reader.filter.check(['x', ...known]).then(([, ...others]) => others);
        denied += verdicts.filter((verdict) => verdict === 'absent').length;
      }
    })();
    await Promise.all(work);
    done = true;
    await reading;
    expect(denied).toBe(0);
    for (const { filter } of [...adders, reader]) {
      expect(new Set(await filter.check(acknowledged))).toEqual(new Set(['maybe']));
    }
    const layers = await layersOf(name);
    expect(layers.length).toBeGreaterThan(4);
    for (const { ids, capacity } of layers) expect(ids).toBeLessThanOrEqual(capacity);
    const events = [...adders, reader].flatMap(({ events }) => events.map(({ type }) => type));
    expect(events.filter((type) => type !== 'state-changed')).toEqual([]);
  });

  it('goes on with adds where no layer can be opened, and opens it as soon as one can', async () => {
    const name = redis.name();
    const { filter } = await open(name);
    await build(filter, [], { capacity: 100, errorRate: 0.01 });
    // Another process took the lease and died.
    await admin.set(`bloom:{${name}}:lease`, 'somebody else', 'PX', 60_000);
    const ids = idsOf('added', 120);
    expect((await filter.add(ids)).filter(Boolean).length).toBeGreaterThan(110);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    expect(await layersOf(name)).toHaveLength(1);
    await admin.del(`bloom:{${name}}:lease`);
    // An add right after a refused one opens none.
    await eventually('a layer is opened', async () => {
      await filter.add(['one more']);
      return (await layersOf(name)).length === 2;
    });
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
  });

  it('is emptied by a build, which leaves none of its keys', async () => {
    const name = redis.name();
    const { filter } = await open(name);
    await build(filter, [], target);
    await filter.add(idsOf('added', 5000));
    await build(filter, ['kept'], target);
    expect(await filter.check(['kept', 'added-3'])).toEqual(['maybe', 'absent']);
    const keys = await admin.keys(`bloom:{${name}}:*`);
    expect(keys.filter((key) => key.includes(':layer:'))).toHaveLength(1);
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(await admin.pttl(key)).toBe(-1);
    expect(await filter.describe()).toMatchObject({ count: 1, capacity: 500, builds: 2 });
  });

  it('has the adds of a staging that another process made, also if layers were opened meanwhile', async () => {
    const name = redis.name();
    const [one, other] = [await open(name), await open(name)];
    await build(one.filter, [], target);
    const lease = await leaseOf(one.filter);
    const staging = await lease.stage(testPlan(target));
    const ids = idsOf('added', 400);
    await other.filter.add(ids);
    await staging.commit(0);
    await lease.release();
    expect(new Set(await other.filter.check(ids))).toEqual(new Set(['maybe']));
    expect((await other.filter.describe()).count).toBe((await layersOf(name))[0]!.ids);
    await other.filter.add(idsOf('more', 2000));
    expect(new Set(await one.filter.check([...ids, ...idsOf('more', 2000)]))).toEqual(new Set(['maybe']));
  });
});
