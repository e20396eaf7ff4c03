import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LocalCopyStore } from '../../../../src/store/local-copy/index.js';
import { build, commitIds, leaseOf, mergeIds, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { openLeased } from '../../../support/leased-reader.js';
import { openOptions } from '../../../support/open-options.js';
import { startPrevious } from '../../../support/previous/previous-process.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';

let redis: RedisFixture;
let admin: Redis;
let name: string;
let instance: Instance;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());
beforeEach(async () => {
  name = redis.name();
  instance = await redis.open(name);
});

/** More than one segment of 1 MiB. */
const LARGE = { range: { first: 1, integers: 10_000_000 } };
const SMALL = { range: { first: 1, integers: 5_000 } };
const texts = (...ids: (number | string)[]) => ids.map(String);
const metaKey = () => `bloom:{${name}}:meta`;
const formatOf = () => admin.hget(metaKey(), 'format');

describe('A generation of layout exact in Redis', () => {
  it('answers each integer exactly, and every other id as a hashed one', async () => {
    const { filter } = instance;
    await build(filter, texts(1, 3, 9_999_999, 'sku', 2n ** 60n + ''), LARGE);
    expect(await filter.check(texts(1, 2, 3, 9_999_999, 9_999_998))).toEqual([
      'maybe',
      'absent',
      'maybe',
      'maybe',
      'absent',
    ]);
    expect(await filter.check(texts('sku', 'other', `${2n ** 60n}`, `${2n ** 60n + 1n}`, '01'))).toEqual([
      'maybe',
      'absent',
      'maybe',
      'absent',
      'absent',
    ]);
    expect(await filter.check(texts(9_999_999))).toEqual(['maybe']);
    expect(await filter.check(texts(5_000_000))).toEqual(['absent']);
    expect((await filter.describe()).shape).toMatchObject({ isExact: true, modelledErrorRate: 0 });
  });

  it('takes adds of all processes, in what is live and what is staged', async () => {
    const other = await redis.open(name);
    await build(instance.filter, texts(1), SMALL);
    expect(await other.filter.add(texts(2, 1, 4_000, 123_456, 'sku'))).toEqual([
      true,
      false,
      true,
      true,
      true,
    ]);
    const lease = await leaseOf(instance.filter);
    const staging = await lease.stage(testPlan(LARGE));
    expect(await other.filter.add(texts(5, 123_457))).toEqual([true, true]);
    await commitIds(staging, texts(1, 2, 4_000, 123_456, 'sku'));
    await lease.release();
    const all = texts(1, 2, 4_000, 5, 123_456, 123_457, 'sku');
    expect(await instance.filter.check(all)).toEqual(all.map(() => 'maybe'));
    expect(await other.filter.check(texts(3, 6, 123_458, 'other'))).toEqual(Array(4).fill('absent'));
  });

  it('replaces one of hashed ids, and is replaced by one, with the adds of meanwhile', async () => {
    const { filter } = instance;
    const other = await redis.open(name);
    let ids = texts(1, 'sku');
    await build(filter, ids);
    expect(await formatOf()).toBe('1');
    for (const [i, plan] of [SMALL, {}, LARGE, SMALL, {}].entries()) {
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan(plan));
      const added = texts(100 + i, 20_000_000 + i, `added-${i}`);
      expect(await other.filter.add(added)).toEqual([true, true, true]);
      await commitIds(staging, ids);
      await lease.release();
      ids = [...ids, ...added];
      expect(await other.filter.check(ids)).toEqual(ids.map(() => 'maybe'));
      expect(await other.filter.check(texts(2, 99, 'none'))).toEqual(Array(3).fill('absent'));
      expect(await formatOf()).toBe('range' in plan ? '5' : '1');
    }
  });

  it('says of a scan that it has too many ids outside the range', async () => {
    const lease = await leaseOf(instance.filter);
    const staging = await lease.stage(testPlan(SMALL));
    for (let id = 1; id <= 5_000; id++) staging.local.addKey(String(id));
    for (let id = 0; id < 20; id++) staging.local.addKey(`other-${id}`);
    expect(staging.isOutgrown).toBe(false);
    for (let id = 0; id < 1_000; id++) staging.local.addKey(`many-${id}`);
    expect(staging.isOutgrown).toBe(true);
    await lease.release();
  });

  it('is not believed when its range was edited', async () => {
    await build(instance.filter, texts(1, 4_000), SMALL);
    for (const range of ['2 3', '1 2', '1', '', 'x y', '1 99999', '1.5 3', '01 3']) {
      await build(instance.filter, texts(1, 4_000), SMALL);
      const fresh = await redis.open(name);
      await admin.hset(metaKey(), 'range', range);
      expect(await fresh.filter.check(texts(1, 2))).toEqual(['unknown', 'unknown']);
      expect((await fresh.filter.describe()).state).toBe('lost');
    }
  });

  it('goes offline like any other, also while another one is staged', async () => {
    await build(instance.filter, texts(1), SMALL);
    const lease = await leaseOf(instance.filter);
    const staging = await lease.stage(testPlan(SMALL));
    await mergeIds(staging, texts(1, 2));
    await admin.del(`bloom:{${name}}:0`);
    expect(await instance.filter.check(texts(1))).toEqual(['unknown']);
    expect(await formatOf()).toBe('5');
    expect(await admin.hexists(metaKey(), 'range')).toBe(0);
    await instance.filter.add(texts(3));
    await staging.commit(2);
    await lease.release();
    expect(await instance.filter.check(texts(1, 2, 3, 4))).toEqual(['maybe', 'maybe', 'maybe', 'absent']);
  });

  it('removes integers of its range, and no other id', async () => {
    const { filter } = instance;
    const other = await redis.open(name);
    expect(await filter.remove!(texts(1))).toEqual([false]);
    await build(filter, texts(1, 2, 3, 'sku', 123_456), SMALL);
    const before = (await filter.describe()).count;
    expect(await other.filter.remove!(texts(2, 4, 2, 'sku', 123_456, 'none'))).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(await filter.check(texts(1, 2, 3, 'sku', 123_456))).toEqual([
      'maybe',
      'absent',
      'maybe',
      'maybe',
      'maybe',
    ]);
    expect((await filter.describe()).count).toBe(before - 1);
    expect(await filter.add(texts(2))).toEqual([true]);
    expect(await filter.check(texts(2))).toEqual(['maybe']);
    await build(filter, texts(1, 2));
    expect(await filter.remove!(texts(1))).toEqual([false]);
    expect(await filter.check(texts(1))).toEqual(['maybe']);
  });

  it('removes from what is staged too, whatever is live', async () => {
    const { filter } = instance;
    const other = await redis.open(name);
    for (const plan of [SMALL, {}]) {
      await build(filter, texts(1, 2), plan);
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan(SMALL));
      await other.filter.add(texts(7, 8));
      expect(await other.filter.remove!(texts(7))).toEqual([plan === SMALL]);
      await commitIds(staging, texts(1, 2));
      await lease.release();
      expect(await other.filter.check(texts(1, 2, 7, 8))).toEqual(['maybe', 'maybe', 'absent', 'maybe']);
    }
  });

  it('notices on a removal that a live block is gone', async () => {
    await build(instance.filter, texts(1, 2), SMALL);
    await admin.del(`bloom:{${name}}:0`);
    expect(await instance.filter.remove!(texts(1))).toEqual([false]);
    expect((await instance.filter.describe()).state).toBe('lost');
  });

  it('is left alone by a process of an older version, from its staging on', async () => {
    await build(instance.filter, texts(1));
    const previous = await startPrevious(redis.server.url, name);
    try {
      await previous.do('add', texts(2));
      const lease = await leaseOf(instance.filter);
      const staging = await lease.stage(testPlan(SMALL));
      expect((await previous.do('add', texts(3))).error).toMatch('format 5');
      await commitIds(staging, texts(1, 2));
      await lease.release();
      expect(await previous.do('check', texts(1, 7))).toMatchObject({ result: ['unknown', 'unknown'] });
      expect(await instance.filter.check(texts(1, 2, 7))).toEqual(['maybe', 'maybe', 'absent']);
      await build(instance.filter, texts(1, 2));
      await eventually('it answers again', async () => {
        const { result } = await previous.do('check', texts(1, 7));
        return String(result) === 'maybe,absent';
      });
    } finally {
      previous.close();
    }
  });
});

describe('Copies of a generation of layout exact', () => {
  it.each(['verified', 'leased'] as const)('answer as the filter does: %s', async (replica) => {
    await build(instance.filter, texts(1), SMALL);
    const { store } = await redis.open(name);
    const leaseMs = replica === 'leased' ? 2_000 : undefined;
    const copied = new LocalCopyStore(store).open(openOptions({ name, replica, leaseMs }));
    for (const [i, plan] of [SMALL, LARGE, {}, SMALL].entries()) {
      await eventually('the copy answers', async () => {
        await copied.check(texts(1));
        if (replica === 'leased') return copied.copyLease!.isLeased;
        return true;
      });
      const added = texts(100 + i, 20_000_000 + i, `added-${i}`);
      expect(await instance.filter.add(added)).toEqual([true, true, true]);
      const ids = [...texts(1), ...added];
      expect(await copied.check(ids)).toEqual(ids.map(() => 'maybe'));
      expect(await copied.add(texts(200 + i))).toEqual([true]);
      expect(await copied.check(texts(200 + i, 2, 4_000, 'none'))).toEqual([
        'maybe',
        ...Array(3).fill('absent'),
      ]);
      await build(instance.filter, ids, plan);
      expect(await copied.check(ids)).toEqual(ids.map(() => 'maybe'));
    }
    const [last] = texts(200 + 3);
    await copied.add([last!]);
    expect(await copied.remove!([last!])).toEqual([true]);
    // A copy with a lease keeps what it was given, and the one before answers until the next one is loaded.
    if (replica === 'leased') expect(await copied.check([last!])).toEqual(['maybe']);
    else await eventually('it is gone', async () => (await copied.check([last!]))[0] === 'absent');
    await copied.close();
  });

  it('with leases get the places of integers and of hashed ids, also of a staging', async () => {
    await build(instance.filter, texts(1), SMALL);
    const reader = await openLeased(redis, name);
    const { tag } = await reader.join();
    expect(await formatOf()).toBe('5');
    const adding = instance.filter.add(texts(2_018, 'sku'));
    await eventually('the entry is there', () => reader.entries.length === 1);
    await reader.acknowledge();
    await adding;
    const [entry] = reader.entries;
    expect(entry).toMatchObject({ tag });
    // 2,018 is at position 2,017: the second bit of the second block.
    expect(Array.from(entry!.places!.subarray(0, 2))).toEqual([1, 33]);
    expect(entry!.places![2]).toBeGreaterThanOrEqual(3);
    expect(entry!.places![3]! >>> 31).toBe(1);
    expect(await reader.filter.check(texts(1, 2_018, 'sku', 3))).toEqual([
      'maybe',
      'maybe',
      'maybe',
      'absent',
    ]);
    await reader.close();
  });
});
