import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { StoredFilter, BuildOccasion, RebuildLease } from '../../../../src/store/index.js';
import { eventually } from '../../../support/eventually.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';

const KEY = 'bloom:{products}:builds';
const LEASE = 'bloom:{products}:lease';
const SCHEDULED: BuildOccasion = { kind: 'scheduled', withinMs: 60_000 };
const RECOVERY: BuildOccasion = { kind: 'recovery' };
const OVERFULL: BuildOccasion = { kind: 'overfull', withinMs: 60_000 };
const HOUR_MS = 3_600_000;

describe('The facts about the builds of a filter in Redis', () => {
  let redis: RedisFixture;
  let admin: Redis;
  let filter: StoredFilter;
  let other: StoredFilter;
  beforeEach(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
    ({ filter } = await redis.open('products'));
    ({ filter: other } = await redis.open('products'));
  });
  afterEach(() => redis.close());

  async function ask(
    store: StoredFilter,
    occasion: BuildOccasion,
    leaseMs = 60_000,
  ): Promise<RebuildLease | number> {
    let dueInMs = 0;
    return (await store.lease({ leaseMs, occasion, onNotDue: (ms) => (dueInMs = ms) })) ?? dueInMs;
  }

  async function make(occasion: BuildOccasion, kind: 'published' | 'failed', store = filter): Promise<void> {
    const lease = await ask(store, occasion);
    if (typeof lease === 'number') throw new Error(`Not due for ${lease} ms.`);
    await lease.release({ kind });
  }

  /** So often that the pause is the longest, a minute: on a machine that is busy a second is soon over. */
  async function failOften(store: StoredFilter): Promise<void> {
    for (let i = 0; i < 8; i++) await make({ kind: 'manual' }, 'failed', store);
  }

  it('are shared by the processes, and kept in one key', async () => {
    await make(SCHEDULED, 'published');
    expect(await ask(other, SCHEDULED)).toBeGreaterThan(0);
    await failOften(other);
    expect(await ask(filter, RECOVERY)).toBeGreaterThan(0);
    expect((await admin.keys('*')).toSorted()).toEqual([KEY]);
  });

  it('tell that a process died while it was building: that is a failure', async () => {
    await failOften(filter);
    await admin.hincrby(KEY, 'due', -HOUR_MS);
    expect(await ask(filter, RECOVERY)).toBeInstanceOf(Object);
    await admin.del(LEASE);
    expect(await ask(other, RECOVERY)).toBeGreaterThan(0);
    await admin.hincrby(KEY, 'began', -61_000);
    await make(SCHEDULED, 'published', other);
    await make(RECOVERY, 'published');
  });

  it('pace the builds of an overfull filter for all processes, also those that fail and those whose process dies', async () => {
    const past = (field: string) => admin.hincrby(KEY, field, -61_000);
    await make(OVERFULL, 'failed');
    await admin.hdel(KEY, 'due');
    expect(await ask(other, OVERFULL)).toBeGreaterThan(30_000);
    await make({ kind: 'scheduled', withinMs: 1 }, 'failed', other);
    await past('due');
    await make(OVERFULL, 'published', other);
    expect(await ask(filter, OVERFULL)).toBeGreaterThan(30_000);
    await past('began');
    expect(await ask(filter, OVERFULL)).toBeGreaterThan(30_000);
    await past('live');
    expect(await ask(filter, OVERFULL)).toBeInstanceOf(Object);
    await admin.del(LEASE);
    expect(await ask(other, OVERFULL)).toBeGreaterThan(30_000);
    await past('began');
    expect(await ask(other, OVERFULL)).toBeInstanceOf(Object);
  });

  it('that lie in the future, after the clock was set back, hold nothing up', async () => {
    await make(SCHEDULED, 'published');
    await make({ kind: 'manual' }, 'failed');
    for (const field of ['began', 'live', 'due']) await admin.hincrby(KEY, field, HOUR_MS);
    await make(SCHEDULED, 'failed');
    await admin.hincrby(KEY, 'due', HOUR_MS);
    await make(RECOVERY, 'published');
  });

  it.each(['nonsense', 'nan', 'inf', '-1', '1e300'])('that are %s hold nothing up', async (nonsense) => {
    const fields = ['running', 'began', 'occasion', 'live', 'failures', 'due', 'wait'];
    await admin.hset(KEY, Object.fromEntries(fields.map((field) => [field, nonsense])));
    for (const kind of ['published', 'failed'] as const) {
      await make(SCHEDULED, kind);
      await admin.hset(KEY, Object.fromEntries(fields.map((field) => [field, nonsense])));
      await make(RECOVERY, kind);
      await admin.hset(KEY, Object.fromEntries(fields.map((field) => [field, nonsense])));
    }
  });

  it.each(['1e300', 'inf', String(100 * HOUR_MS)])(
    'that name a pause of %s hold nothing up',
    async (wait) => {
      await admin.hset(KEY, { due: wait === 'inf' ? wait : Date.now() + Number(wait), wait, failures: 1 });
      await make(RECOVERY, 'published');
    },
  );

  it('let one that fails each time build only when no other asks, so that it does not keep those from it that can', async () => {
    const brief: BuildOccasion = { kind: 'scheduled', withinMs: 0 };
    await make(SCHEDULED, 'failed');
    expect(await ask(other, SCHEDULED)).toBeGreaterThan(0);
    expect(await ask(filter, { ...brief, failedMs: HOUR_MS })).toBeGreaterThan(HOUR_MS - 60_000);
    await make({ ...brief, failedMs: 0 }, 'failed');
    await make(brief, 'failed', other);
    expect(await ask(filter, { ...brief, failedMs: HOUR_MS })).toBeGreaterThan(0);
    // All of them have failed, or those that had not are gone.
    await admin.hincrby(KEY, 'able', -2 * HOUR_MS);
    await make({ ...brief, failedMs: HOUR_MS }, 'failed');
    await make({ ...brief, failedMs: HOUR_MS }, 'published', other);
  });

  it('are created again where something else has their name', async () => {
    await admin.set(KEY, 'text');
    await make(SCHEDULED, 'published');
    expect(await ask(filter, SCHEDULED)).toBeGreaterThan(0);
  });

  it('are none where the user may not ask for the time: every build is due', async () => {
    const user = await asUser(redis, admin, ['~*', '+@all', '-time']);
    const { filter: restricted } = await redis.open('products', { redis: user });
    await make(SCHEDULED, 'published', restricted);
    await make(SCHEDULED, 'failed', restricted);
    await make(RECOVERY, 'failed', restricted);
    await make(RECOVERY, 'published', restricted);
  });

  it('are noted later when the connection broke before', async () => {
    const lease = (await ask(filter, SCHEDULED)) as RebuildLease;
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await lease.release({ kind: 'failed' }).catch(() => {});
    await eventually('they are noted', async () => (await admin.hget(KEY, 'failures')) === '1');
    await eventually('the lease is given back', async () => (await admin.exists(LEASE)) === 0);
  });
});
