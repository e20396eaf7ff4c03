import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { RedisStoreOptions } from '../../../../../src/store/redis/index.js';
import { eventually } from '../../../../support/eventually.js';
import { build } from '../../../../support/built-filter.js';
import { isPending, openLeased } from '../../../../support/leased-reader.js';
import { commandCounts, RedisFixture } from '../../../../support/redis-fixture.js';
import { asUser } from '../../../../support/restricted-user.js';

/** Far longer than any test: whatever ends sooner was acknowledged. */
const LONG_MS = 60_000;
/** Whatever waits for a whole lease is to end in a test. */
const SHORT_MS = 400;

let redis: RedisFixture;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterAll(() => redis.close());

async function system(leaseMs: number, options: Partial<RedisStoreOptions> = {}) {
  const name = redis.name();
  const adder = await redis.open(name, options);
  await build(adder.filter, ['built']);
  const reader = await openLeased(redis, name, { leaseMs });
  const granted = await reader.join();
  const key = (part: string) => `bloom:{${name}}:${part}`;
  return { name, adder, reader, granted, key };
}

/** Waits until an add that nothing else is done beside has asked so often. */
async function asked(times: number): Promise<void> {
  await admin.config('RESETSTAT');
  await eventually('it asked', async () => {
    const { evalsha = 0 } = await commandCounts(admin);
    return evalsha >= times;
  });
}

/** How long it took, in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work();
  return performance.now() - since;
}

describe('A list of readers that is lost', () => {
  it('has adds wait until the leases that were on it are over', async () => {
    const { adder, reader, granted, key } = await system(LONG_MS);
    await admin.del(key('readers'));
    const add = adder.filter.add(['new']);
    expect(await isPending(add, admin)).toBe(true);
    const again = await reader.join();
    expect(again.list).not.toBe(granted.list);
    await reader.leases.acknowledge({ list: again.list, applied: again.number });
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('has adds wait for leases that were granted since, too', async () => {
    const { adder, key } = await system(LONG_MS);
    const lostUntil = (await timeOf(admin)) + SHORT_MS;
    await admin.hset(key('meta'), 'leases.lostUntil', lostUntil);
    const add = adder.filter.add(['new']);
    await eventually('that time has passed', async () => (await timeOf(admin)) > lostUntil + SHORT_MS / 2);
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('counts as over when the latest lease that was on it is', async () => {
    const { adder, key } = await system(SHORT_MS);
    await admin.del(key('readers'));
    await adder.filter.add(['new']);
    expect(Number(await admin.hget(key('meta'), 'leases.lostUntil'))).toBeLessThanOrEqual(
      await timeOf(admin),
    );
  });

  it('lets no acknowledgement of another list count', async () => {
    const { adder, reader, granted, key } = await system(LONG_MS);
    const add = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    await admin.del(key('readers'));
    const again = await reader.join();
    await reader.leases.acknowledge({ list: again.list, applied: again.number });
    await reader.leases.acknowledge({ list: granted.list, applied: again.number });
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('lets no question be answered by a list that came with a snapshot', async () => {
    const deaf = await asUser(redis, admin, ['~*', '&*', '+@all', '-subscribe']);
    const { adder, reader, granted, key } = await system(LONG_MS, { redis: deaf });
    const add = adder.filter.add(['new']);
    await eventually('the entry came', () => reader.entries.length > 0);
    await admin.hset(key('meta'), 'leases.run', 'f'.repeat(40));
    await reader.leases.acknowledge({ list: granted.list, applied: reader.entries.at(-1)!.number });
    await reader.leases.leave();
    await asked(2);
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('gives no renewal to a reader of it', async () => {
    const { reader, granted, key } = await system(LONG_MS);
    await admin.del(key('readers'));
    expect(await reader.leases.take({ list: granted.list, applied: 0 })).toEqual({ outcome: 'not-live' });
  });

  it('has adds wait for the longest lease where its length is gone from the metadata', async () => {
    const { adder, key } = await system(SHORT_MS);
    await admin.hdel(key('meta'), 'leases.ms');
    await admin.del(key('readers'));
    await admin.hset(key('meta'), 'leases.until', String(Date.now() + LONG_MS));
    expect(await isPending(adder.filter.add(['new']), admin)).toBe(true);
    await openLeased(redis, key('').slice('bloom:{'.length, -2), { leaseMs: SHORT_MS }).then((other) =>
      other.join(),
    );
    expect(await admin.hget(key('meta'), 'leases.ms')).toBe(String(SHORT_MS));
  });

  it('shortens leases that the clock of the server has left behind', async () => {
    const { adder, key } = await system(SHORT_MS);
    const dead = Date.now() + 3_600_000;
    const [member] = (await admin.zrange(key('readers'), '0', '-1')).filter((one) => one.startsWith('e:'));
    await admin.zadd(key('readers'), dead, member!);
    await admin.hset(key('meta'), 'leases.until', String(dead));
    expect(await adder.filter.add(['new'])).toEqual([true]);
    const other = await openLeased(redis, key('').slice('bloom:{'.length, -2), { leaseMs: SHORT_MS });
    await other.join();
    expect(Number(await admin.hget(key('meta'), 'leases.until'))).toBeLessThan(dead);
    expect(Number((await admin.zscore(key('readers'), member!)) ?? 0)).toBeLessThan(dead);
  });

  it('begins with an entry that cannot be written', async () => {
    const { adder, granted, key } = await system(LONG_MS);
    await admin.set(key('feed'), 'no stream');
    const add = adder.filter.add(['new']);
    await eventually('another list', async () => (await admin.hget(key('meta'), 'leases')) !== granted.list);
    expect(await isPending(add, admin)).toBe(true);
    expect(await admin.exists(key('feed'))).toBe(0);
    add.catch(() => {});
  });
});

describe('A list of readers that another server wrote', () => {
  it('has adds wait a whole lease, once', async () => {
    const { adder, key } = await system(SHORT_MS);
    await admin.hset(key('meta'), 'leases.run', 'f'.repeat(40));
    const list = await admin.hget(key('meta'), 'leases');
    const ms = await timed(() => adder.filter.add(['new']));
    expect(ms).toBeGreaterThan(SHORT_MS / 2);
    expect(await admin.hget(key('meta'), 'leases')).not.toBe(list);
    expect(await adder.filter.add(['newer'])).toEqual([true]);
  });

  it('gives no renewal to a reader of it', async () => {
    const { reader, granted, key } = await system(LONG_MS);
    await admin.hset(key('meta'), 'leases.run', 'f'.repeat(40));
    expect(await reader.leases.take({ list: granted.list, applied: 0 })).toEqual({ outcome: 'not-live' });
  });
});

describe('An add that finds nothing live', () => {
  it('waits until the leases of what was live are over', async () => {
    const { adder, key } = await system(LONG_MS);
    await adder.filter.distrust('a test');
    expect(await admin.hmget(key('meta'), 'format', 'tag')).toEqual(['4', 'L']);
    const add = adder.filter.add(['new']);
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('is one also where the metadata make no sense', async () => {
    const { adder, reader, key } = await system(LONG_MS);
    await admin.hset(key('meta'), 'blocks', '7');
    await eventually('it is offline', async () => (await adder.filter.describe()).state === 'lost');
    expect(await admin.hmget(key('meta'), 'format', 'tag')).toEqual(['4', 'L']);
    expect(await reader.leases.take(undefined)).toEqual({ outcome: 'not-live' });
    expect(await isPending(adder.filter.add(['new']), admin)).toBe(true);
  });

  it('waits for leases that the metadata have lost, in a process that knows of leases', async () => {
    const { name, key } = await system(LONG_MS);
    const knowing = await openLeased(redis, name, { leaseMs: LONG_MS });
    await admin.del(key('meta'));
    await admin.hset(key('meta'), { format: '1', state: 'unbuilt' });
    const add = knowing.filter.add(['new']);
    expect(await isPending(add, admin)).toBe(true);
    add.catch(() => {});
  });

  it('has a swap wait until a lease has passed since its staging was published', async () => {
    const { name, adder, reader, key } = await system(SHORT_MS);
    await adder.filter.distrust('a test');
    const since = performance.now();
    await build(adder.filter, ['built', 'other']);
    expect(performance.now() - since).toBeGreaterThan(SHORT_MS / 2);
    expect(await admin.hget(key('meta'), 'tag')).toMatch(/^L[0-9a-f]{8}$/);
    expect(await reader.filter.check(['other', name])).toEqual(['maybe', 'absent']);
  });
});

async function timeOf(client: Redis): Promise<number> {
  const [seconds, micros] = await client.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}
