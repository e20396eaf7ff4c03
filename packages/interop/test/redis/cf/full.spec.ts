import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomFullError } from 'nestjs-bloom/filter';
import { type BloomLayout, BloomUnavailableError } from 'nestjs-bloom/store';
import { describeOwnBf, ownBfFixture } from '../../../../../test/support/bf-server.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import type { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { removable } from '../../../../../test/support/abilities.js';
import { cuckoo } from '../../../src/index.js';

const target = { capacity: 50, errorRate: 0.05 };
const doesNotGrow = cuckoo({ expansion: 0 });

describeOwnBf('A cuckoo filter that takes no further id', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await ownBfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function open(layout: BloomLayout, name = redis.name()) {
    const { filter } = await redis.open(name, {}, { layout, plan: testPlan(target), drainMs: 0 });
    return filter;
  }

  it('says that it is full, and keeps what it had acknowledged', async () => {
    const filter = await open(doesNotGrow);
    await build(filter, [], target);
    const added: string[] = [];
    let refusal: unknown;
    for (let i = 0; i < 5000 && !refusal; i++) {
      await filter.add([`id-${i}`]).then(
        () => added.push(`id-${i}`),
        (error: unknown) => (refusal = error),
      );
    }
    expect(refusal).toBeInstanceOf(BloomFullError);
    expect(added.length).toBeGreaterThan(target.capacity);
    expect(new Set(await filter.check(added))).toEqual(new Set(['maybe']));
    expect((await filter.describe()).state).toBe('ready');
    await removable(filter).remove(added.slice(0, 100));
    expect(await filter.check(added.slice(100))).not.toContain('absent');
  });

  it('says so too when it has as many tables as the server allows', async () => {
    const name = redis.name();
    const filter = await open(cuckoo(), name);
    await build(filter, ['a'], target);
    const key = (await admin.keys(`bloom:{${name}}:cf:*`)).find((one) => /:cf:[\w-]+$/.test(one))!;
    const addAgain = () => admin.call('CF.ADD', key, 'again').catch(String);
    while ((await addAgain()) === 1);
    expect(await addAgain()).toContain('Maximum expansions reached');
    // What others write to the key would be taken for an older copy of it.
    await admin.hdel(`bloom:{${name}}:cf:nestjs-bloom:meta`, 'written');
    await expect(filter.add(['b'])).rejects.toThrow(BloomFullError);
    expect(await filter.check(['a'])).toEqual(['maybe']);
  });

  it('says what the server refused when it is not full: out of memory', async () => {
    const filter = await open(cuckoo());
    await build(filter, ['a'], target);
    await admin.config('SET', 'maxmemory', '1');
    try {
      await expect(filter.add(['b'])).rejects.toThrow(BloomUnavailableError);
      await expect(filter.add(['b'])).rejects.toThrow(/OOM/);
      await expect(build(filter, ['c'], target)).rejects.toThrow(/OOM/);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    expect((await filter.describe()).state).toBe('ready');
    expect(await filter.check(['a'])).toEqual(['maybe']);
    expect(await filter.add(['b'])).toEqual([true]);
  });

  it('is not built with more ids than there is room for, and the old one stays', async () => {
    const filter = await open(doesNotGrow);
    await build(filter, ['old'], target);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(target));
    const building = commitIds(staging, idsOf('id', 5000));
    await expect(building).rejects.toMatchObject({ reason: 'too-many-ids' });
    await expect(building).rejects.toThrow(/no room .* Raise its capacity/);
    await staging.abort();
    await lease.release();
    expect(await filter.check(['old'])).toEqual(['maybe']);
  });

  it('is not built when adds of the meantime have no room, which is not their fault', async () => {
    const filter = await open(doesNotGrow);
    await build(filter, [], { capacity: 2000, errorRate: 0.05 });
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(target));
    const ids = idsOf('id', 1000);
    for (let at = 0; at < ids.length; at += 100) await filter.add(ids.slice(at, at + 100));
    await expect(commitIds(staging, ['read'])).rejects.toThrow();
    await staging.abort();
    await lease.release();
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
  });
});
