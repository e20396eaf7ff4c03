import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { build, commitIds, idsOf, leaseOf, mergeIds, testPlan } from '../../../support/built-filter.js';
import { RedisFixture } from '../../../support/redis-fixture.js';

/** Three segments and one. */
const LARGE = { capacity: 700_000 };
const SMALL = { capacity: 1000 };

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());
beforeEach(() => admin.flushall());

async function keys(): Promise<string[]> {
  return (await admin.keys('*')).sort();
}

async function lives(): Promise<number[]> {
  return Promise.all((await keys()).map((key) => admin.pttl(key)));
}

describe('Keys in Redis', () => {
  it('are meta and the live segments alone after a rebuild, whatever the sizes', async () => {
    const { filter } = await redis.open('products');
    const [meta, ...segments] = ['meta', '0', '1', '2'].map((end) => `bloom:{products}:${end}`);
    for (const [plan, count] of [
      [SMALL, 1],
      [LARGE, 3],
      [LARGE, 3],
      [SMALL, 1],
    ] as const) {
      await build(filter, ['a'], plan);
      expect(await keys()).toEqual([...segments.slice(0, count), meta!]);
    }
  });

  it('never carry a time to live once they are live', async () => {
    const { filter } = await redis.open('products');
    for (const plan of [SMALL, LARGE, SMALL, LARGE]) {
      await build(filter, ['a'], plan);
      await filter.add(['b']);
      expect(new Set(await lives())).toEqual(new Set([-1]));
    }
  });

  it('of a staged generation and the lease all expire, also after a merge', async () => {
    const { filter } = await redis.open('products');
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(LARGE));
    const expiring = async () => (await keys()).filter((key) => !key.endsWith(':meta'));
    expect(await expiring()).toHaveLength(4);
    for (const key of await expiring()) expect(await admin.pttl(key)).toBeGreaterThan(0);
    await mergeIds(staging, ['a']);
    await filter.add(['b']);
    expect(await expiring()).toHaveLength(4);
    for (const key of await expiring()) expect(await admin.pttl(key)).toBeGreaterThan(0);
    await lease.release();
  });

  it('of a staged generation are gone after abort', async () => {
    const { filter } = await redis.open('products');
    await build(filter, ['a']);
    const before = await keys();
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan(LARGE));
    await mergeIds(staging, ['b']);
    await staging.abort();
    await lease.release();
    expect(await keys()).toEqual(before);
    expect((await admin.hkeys('bloom:{products}:meta')).filter((field) => field.includes('pending'))).toEqual(
      [],
    );
  });

  it('of an earlier staging are gone when a second one replaces it', async () => {
    const { filter } = await redis.open('products');
    const lease = await leaseOf(filter);
    await mergeIds(await lease.stage(testPlan(LARGE)), ['a']);
    await commitIds(await lease.stage(testPlan(SMALL)), ['b']);
    await lease.release();
    expect(await keys()).toEqual(['bloom:{products}:0', 'bloom:{products}:meta']);
  });

  it('of a filter that was taken offline are removed', async () => {
    const { filter } = await redis.open('products');
    await build(filter, ['a'], LARGE);
    await admin.del('bloom:{products}:0', 'bloom:{products}:1');
    await filter.check(idsOf('id', 100));
    expect(await keys()).toEqual(['bloom:{products}:meta']);
  });

  it('stand under the prefix of the library and under that of the client', async () => {
    const client = new Redis(redis.server.url, { keyPrefix: 'shop:' });
    const { filter, close } = await redis.open('products', { redis: client, keyPrefix: 'guards' });
    await build(filter, ['a'], LARGE);
    await filter.add(['b']);
    expect(await filter.check(['a', 'b', 'x'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await filter.check(['a'])).toEqual(['maybe']);
    for (const key of await keys()) expect(key).toMatch(/^shop:guards:\{products\}:/);
    await admin.del('shop:guards:{products}:1');
    expect(await filter.check(idsOf('id', 100))).toContain('unknown');
    await build(filter, ['a'], SMALL);
    expect(await keys()).toEqual(['shop:guards:{products}:0', 'shop:guards:{products}:meta']);
    await close();
    client.disconnect();
  });

  it('keep filters of different names and prefixes apart', async () => {
    const one = await redis.open('products');
    const two = await redis.open('customers');
    const three = await redis.open('products', { keyPrefix: 'other' });
    await Promise.all([build(one.filter, ['1']), build(two.filter, ['2']), build(three.filter, ['3'])]);
    expect(await one.filter.check(['1', '2', '3'])).toEqual(['maybe', 'absent', 'absent']);
    expect(await two.filter.check(['1', '2', '3'])).toEqual(['absent', 'maybe', 'absent']);
    expect(await three.filter.check(['1', '2', '3'])).toEqual(['absent', 'absent', 'maybe']);
  });
});
