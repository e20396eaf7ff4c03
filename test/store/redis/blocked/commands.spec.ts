import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { build, idsOf, leaseOf, mergeIds, testPlan } from '../../../support/built-filter.js';
import { commandsFrom, type Instance, RedisFixture } from '../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

describe('What is sent to Redis', () => {
  let instance: Instance;
  let commands: () => Promise<Record<string, number>>;
  beforeEach(async () => {
    instance = await redis.open(redis.name());
    await build(instance.filter, ['a']);
    // Every script is known and the description is read.
    await instance.filter.check(['a', 'b']);
    await instance.filter.add(['a']);
    await instance.filter.check(['a']);
    commands = await commandsFrom(admin, instance.filter);
  });

  it('for a lookup of one id: one GETRANGE and nothing else', async () => {
    expect(await instance.filter.check(['a'])).toEqual(['maybe']);
    expect(await commands()).toEqual({ getrange: 1 });
    expect(await instance.filter.check(['x'])).toEqual(['absent']);
    expect(await commands()).toEqual({ getrange: 2 });
  });

  it('for a lookup of one id too long: one GETRANGE of the same kind', async () => {
    expect(await instance.filter.check(['x'.repeat(5000)])).toEqual(['absent']);
    expect(await commands()).toEqual({ getrange: 1 });
  });

  it('for 200 lookups at once: one command', async () => {
    await Promise.all(idsOf('id', 200).map((id) => instance.filter.check([id])));
    expect(await commands()).toEqual({ evalsha: 1, getrange: 200 });
  });

  it('for 200 adds at once: one command', async () => {
    await Promise.all(idsOf('id', 200).map((id) => instance.filter.add([id])));
    expect(await commands()).toMatchObject({ evalsha: 1, getrange: 200 });
  });

  it('for an add of what is there: nothing that writes', async () => {
    await instance.filter.add(['a']);
    expect(await commands()).toEqual({ evalsha: 1, type: 1, hmget: 1, getrange: 1 });
  });

  it('for an empty list: nothing', async () => {
    await instance.filter.check([]);
    await instance.filter.add([]);
    expect(await commands()).toEqual({});
  });
});

describe('After SCRIPT FLUSH', () => {
  it('everything goes on as before', async () => {
    const { filter, events } = await redis.open(redis.name());
    await build(filter, ['a']);
    await admin.script('FLUSH');
    expect(await filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
    await admin.script('FLUSH');
    expect(await filter.add(['b'])).toEqual([true]);
    await admin.script('FLUSH');
    expect(await filter.describe()).toMatchObject({ state: 'ready' });
    await admin.script('FLUSH');
    await build(filter, ['c']);
    await admin.script('FLUSH');
    expect(await filter.check(['c'])).toEqual(['maybe']);
    expect(events.filter(({ type }) => type !== 'state-changed')).toEqual([]);
  });

  it('in the middle of a rebuild, the rebuild goes on', async () => {
    const { filter } = await redis.open(redis.name());
    const lease = await leaseOf(filter);
    await admin.script('FLUSH');
    const staging = await lease.stage(testPlan());
    await admin.script('FLUSH');
    await mergeIds(staging, ['a']);
    await admin.script('FLUSH');
    await staging.commit(1);
    await admin.script('FLUSH');
    await lease.release();
    expect(await filter.check(['a', 'x'])).toEqual(['maybe', 'absent']);
  });
});
