import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { BloomUnavailableError } from 'nestjs-bloom/store';
import { bfFixture, describeBf } from '../../../../../test/support/bf-server.js';
import {
  build as buildNow,
  commitIds,
  idsOf,
  leaseOf,
  testPlan,
} from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { removable } from '../../../../../test/support/abilities.js';
import { cuckoo } from '../../../src/index.js';

const layout = cuckoo();
// Large: the canaries of a generation are random ids, and in a small one now and then one cannot be told from
// an id of a test.
const target = { capacity: 100_000, errorRate: 0.01 };

describeBf('A cuckoo filter in Redis', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await bfFixture();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  async function open(name = redis.name(), drainMs = 0): Promise<ReturnType<typeof removable>> {
    // A fingerprint is one byte: the contract's 0.0001 % would take a filter of gigabytes.
    const { filter } = await redis.open(name, {}, { layout, plan: testPlan(target), drainMs });
    return removable(filter);
  }
  /** A removal must have begun after the swap, as far as a round trip can tell. */
  const build: typeof buildNow = async (...args) => {
    await buildNow(...args);
    await delay(20);
  };
  const keysOf = (name: string) => admin.keys(`bloom:{${name}}:*`);

  it('tells ids from others, and removes those that were added, each as often as it was', async () => {
    const filter = await open();
    const ids = idsOf('id', 500);
    await build(filter, ids, target);
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    const passed = (await filter.check(idsOf('other', 5000))).filter(
      (verdict) => verdict !== 'absent',
    ).length;
    expect(passed).toBeLessThan(75);
    expect(await filter.add(['twice'])).toEqual([true]);
    expect(await filter.add(['twice'])).toEqual([false]);
    expect(await filter.describe()).toMatchObject({ state: 'ready', count: 502, builtIds: 500, ...target });
    expect(await filter.remove(ids.slice(0, 250))).toEqual(Array(250).fill(true));
    expect(new Set(await filter.check(ids.slice(250)))).toEqual(new Set(['maybe']));
    const still = (await filter.check(ids.slice(0, 250))).filter((verdict) => verdict !== 'absent').length;
    expect(still).toBeLessThan(10);
    expect(await filter.remove(['twice'])).toEqual([true]);
    expect(await filter.check(['twice'])).toEqual(['maybe']);
    expect(await filter.remove(['twice'])).toEqual([true]);
    expect(await filter.remove(['twice'])).toEqual([false]);
    expect((await filter.describe()).count).toBe(250);
    const { hashCount } = cuckoo.plan(target);
    expect((await filter.describe()).shape).toMatchObject({ hashCount });
  });

  it('does not grow when an id is added again and again, and keeps that id', async () => {
    const filter = await open();
    await build(filter, [], target);
    for (let i = 0; i < 100; i++) await filter.add(['again']);
    expect((await filter.describe()).count).toBe(4);
    expect(await filter.remove(['again'])).toEqual([false]);
    expect(await filter.check(['again'])).toEqual(['maybe']);
  });

  it('has the adds that were made while it was built, and replaces the one before with all its keys', async () => {
    const name = redis.name();
    const [filter, other] = [await open(name), await open(name)];
    await build(filter, ['old'], target);
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(target));
    await other.add(['before']);
    await commitIds(staging, ['read']);
    await other.add(['after']);
    await lease.release();
    expect(await filter.check(['old', 'before', 'read', 'after'])).toEqual([
      'absent',
      'maybe',
      'maybe',
      'maybe',
    ]);
    expect(await other.remove(['before'])).toEqual([true]);
    expect(await filter.check(['before', 'read'])).toEqual(['absent', 'maybe']);
    const keys = (await keysOf(name)).filter((key) => !key.includes(':removal:'));
    expect(keys).toHaveLength(3);
    for (const key of keys) expect(await admin.pttl(key)).toBe(-1);
  });

  it.each<[string, (name: string) => Promise<unknown>]>([
    [
      'the filter is gone',
      async (name) => admin.del((await keysOf(name)).find((key) => /:cf:[\w-]+$/.test(key))!),
    ],
    [
      'the filter is another one',
      async (name) => {
        const key = (await keysOf(name)).find((key) => /:cf:[\w-]+$/.test(key))!;
        await admin.del(key);
        await admin.call('CF.ADD', key, 'x');
      },
    ],
    [
      'the metadata are gone',
      async (name) => admin.del((await keysOf(name)).find((key) => key.endsWith(':meta'))!),
    ],
  ])('denies nothing when %s, and works again after a build', async (_, damage) => {
    const name = redis.name();
    const [filter, other] = [await open(name), await open(name)];
    const ids = idsOf('id', 300);
    await build(filter, ids, target);
    await other.check(['id-1']);
    await damage(name);
    for (const one of [other, filter, other, filter]) expect(await one.check(ids)).not.toContain('absent');
    await eventually('it is lost', async () => (await filter.describe()).state === 'lost');
    expect(await filter.check(['id-1', 'x'])).toEqual(['unknown', 'unknown']);
    await expect(filter.remove(['id-1'])).rejects.toThrow(BloomUnavailableError);
    await build(filter, ['new'], target);
    expect(await filter.check(['new', 'id-1'])).toEqual(['maybe', 'absent']);
    expect((await keysOf(name)).length).toBe(3);
  });

  it('adds and removes nothing when the note of what has to stay is gone', async () => {
    const name = redis.name();
    const filter = await open(name);
    await build(filter, ['a'], target);
    await admin.del((await keysOf(name)).find((key) => key.endsWith(':kept'))!);
    await expect(filter.remove(['a'])).rejects.toThrow(BloomUnavailableError);
    expect((await filter.describe()).state).toBe('lost');
  });

  it('removes an id once, also when the command is sent twice', async () => {
    const name = redis.name();
    const filter = await open(name);
    await build(filter, [], target);
    await filter.add(['a', 'a', 'a']);
    await admin.config('RESETSTAT');
    expect(await filter.remove(['a'])).toEqual([true]);
    const removal = (await keysOf(name)).find((key) => key.includes(':removal:'))!;
    expect(await admin.get(removal)).toBe('1');
    expect(await admin.pttl(removal)).toBeGreaterThan(30_000);
    expect((await filter.describe()).count).toBe(2);
  });

  it('removes nothing for a while after a build, which may have missed a row that was deleted', async () => {
    const filter = await open(redis.name(), 300);
    await build(filter, ['a'], target);
    expect(await filter.remove(['a'])).toEqual([false]);
    await eventually('it may be removed', async () => (await filter.remove(['a']))[0]!);
    expect(await filter.check(['a'])).toEqual(['absent']);
  });

  it('grows when more ids are added than planned, and never denies one', async () => {
    const filter = await open();
    await build(filter, [], { capacity: 100, errorRate: 0.05 });
    const ids = idsOf('id', 2000);
    for (let at = 0; at < ids.length; at += 100) await filter.add(ids.slice(at, at + 100));
    expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
    await filter.remove(ids.slice(0, 1500));
    expect(new Set(await filter.check(ids.slice(1500)))).toEqual(new Set(['maybe']));
  });
});

describe('A server without CF.*', () => {
  it('is refused at start', async () => {
    const plain = await RedisFixture.start();
    try {
      const { filter } = await plain.open('products', {}, { layout, plan: testPlan(target) });
      await expect(filter.verify()).rejects.toThrow(BloomConfigError);
      await expect(filter.verify()).rejects.toThrow(/expected a server with CF\.\*/);
    } finally {
      await plain.close();
    }
  });
});
