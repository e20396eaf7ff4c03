import { afterAll, describe, expect } from '@jest/globals';
import type { RedisOptions } from 'ioredis';
import { type BloomLayout, blocked } from '../../../../src/filter/index.js';
import type { StoredFilter, RebuildLease } from '../../../../src/store/index.js';
import { build, idsOf, leaseOf, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { type Instance, RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { sideBySide } from '../../../support/side-by-side.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import type { RedisStoreOptions } from '../../../../src/store/redis/index.js';
import { goZero } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

/** A process that dies blocks the others for so long. */
const LEASE_MS = 600_000;
/** Deadline of a process that is to wait in vain. */
const WRITE_TIMEOUT_MS = 1000;
/** Far shorter than the lease. */
const BACK_MS = 120_000;

const KINDS: readonly (readonly [string, BloomLayout, string])[] = [
  ['of layout blocked', blocked, 'bloom:{products}:lease'],
  ['that grows', scaling(), 'bloom:{products}:lease'],
  ['on the key of go-zero', goZero({ key: 'products', bits: 20_000 }), '{products}:nestjs-bloom:lease'],
];

describe.each(KINDS)('A lease that nobody holds, of a filter %s,', (_, layout, key) => {
  const fixtures: RedisFixture[] = [];
  const proxies: TcpProxy[] = [];
  const together = sideBySide();
  afterAll(async () => {
    await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });

  async function start(): Promise<RedisFixture> {
    const redis = await RedisFixture.start(['--repl-diskless-sync-delay', '0']);
    fixtures.push(redis);
    return redis;
  }

  async function behindProxy(redis: RedisFixture): Promise<TcpProxy> {
    const proxy = await TcpProxy.open(redis.server);
    proxies.push(proxy);
    return proxy;
  }

  const openOn = (
    redis: RedisFixture,
    url: string | RedisOptions = redis.server.url,
    options: Partial<RedisStoreOptions> = {},
  ) =>
    redis.open(
      'products',
      { redis: url, ...options },
      { layout, plan: testPlan(), hasSource: layout.kind === 'go-zero' },
    );
  const openHasty = (redis: RedisFixture, writeTimeoutMs = WRITE_TIMEOUT_MS) =>
    openOn(redis, undefined, { writeTimeoutMs });

  /** They know the filter, however late one of them is answered. */
  async function describedBy(...instances: readonly Instance[]): Promise<void> {
    for (const { filter } of instances)
      await eventually('the filter is described', () =>
        filter.describe().then(
          () => true,
          () => false,
        ),
      );
  }

  async function expectTaken(filter: StoredFilter): Promise<RebuildLease> {
    let lease: RebuildLease | undefined;
    const taken = async () =>
      (lease = await filter.lease({ leaseMs: LEASE_MS }).catch(() => undefined)) !== undefined;
    await eventually('the lease is taken', taken, BACK_MS);
    return lease!;
  }

  together(
    'is cleared by the process that asked for it in vain, from a server that stood still',
    async () => {
      const redis = await start();
      const [one, other] = [await openHasty(redis), await openOn(redis)];
      await describedBy(one, other);
      await redis.server.kill('SIGSTOP');
      await expect(one.filter.lease({ leaseMs: LEASE_MS })).rejects.toThrow(/did not answer/);
      await redis.server.kill('SIGCONT');
      await (await expectTaken(other.filter)).release();
    },
  );

  together('does not keep that process from asking again, before it knows', async () => {
    const redis = await start();
    const instance = await openHasty(redis, 2000);
    const { filter } = instance;
    await describedBy(instance);
    await redis.server.kill('SIGSTOP');
    await expect(filter.lease({ leaseMs: LEASE_MS })).rejects.toThrow(/did not answer/);
    const again = filter.lease({ leaseMs: LEASE_MS }).catch(() => undefined);
    await redis.server.kill('SIGCONT');
    // On a machine that is busy the answer may be too late once more.
    const lease = (await again) ?? (await expectTaken(filter));
    await lease.stage(testPlan());
    await lease.release();
  });

  together('is short when the process that asked for it is gone', async () => {
    const redis = await start();
    const admin = redis.client();
    const [one, other] = [await openHasty(redis), await openOn(redis)];
    await describedBy(one, other);
    await redis.server.kill('SIGSTOP');
    await expect(one.filter.lease({ leaseMs: LEASE_MS })).rejects.toThrow(/did not answer/);
    await one.filter.close();
    await one.close();
    await redis.server.kill('SIGCONT');
    expect(await admin.pttl(key)).toBeLessThanOrEqual(2 * WRITE_TIMEOUT_MS);
    await (await expectTaken(other.filter)).release();
  });

  together('is given back later when the connection is broken', async () => {
    const redis = await start();
    const proxy = await behindProxy(redis);
    const hasty = { writeTimeoutMs: 5000 };
    const [one, other] = [await openOn(redis, proxy.url, hasty), await openOn(redis)];
    const lease = await leaseOf(one.filter, LEASE_MS);
    proxy.cut();
    await eventually('the client knows', () =>
      one.filter.describe().then(
        () => false,
        (error) => String(error).includes('not connected'),
      ),
    );
    await expect(lease.release()).rejects.toThrow(/not connected/);
    expect(await other.filter.lease({ leaseMs: LEASE_MS })).toBeUndefined();
    proxy.mend();
    await (await expectTaken(other.filter)).release();
  });

  together('is that of the process whose command was carried out and sent again', async () => {
    const redis = await start();
    const proxy = await behindProxy(redis);
    const { filter } = await openOn(redis, proxy.url);
    await build(filter, layout.kind === 'go-zero' ? ['a'] : []);
    proxy.disconnect();
    await eventually('the client is back', () =>
      filter.describe().then(
        () => true,
        () => false,
      ),
    );
    proxy.holdReplies();
    const asked = filter.lease({ leaseMs: LEASE_MS });
    const admin = redis.client();
    await eventually('the server has given the lease', async () => (await admin.exists(key)) === 1);
    proxy.disconnect();
    proxy.release();
    const lease = await asked;
    expect(lease).toBeDefined();
    await lease!.release();
    expect(await admin.exists(key)).toBe(0);
  });

  together('counts for nothing on a replica that took over', async () => {
    const [first, second] = [await start(), await start()];
    const [one, replica] = [await openOn(first), second.client()];
    await build(one.filter, layout.kind === 'go-zero' ? idsOf('built', 10) : []);
    await replica.replicaof(first.server.host, first.server.port);
    const lease = await leaseOf(one.filter, LEASE_MS);
    await eventually('the lease has reached the replica', async () => (await replica.pttl(key)) > BACK_MS);
    await replica.replicaof('NO', 'ONE');
    await lease.release();
    expect(await replica.pttl(key)).toBeGreaterThan(BACK_MS);
    const other = await openOn(second);
    const taken = await other.filter.lease({ leaseMs: LEASE_MS });
    expect(taken).toBeDefined();
    await taken!.release();
  });

  together('counts for nothing after a restart, which its holder notices', async () => {
    const redis = await start();
    const [one, other] = [await openOn(redis), await openOn(redis)];
    const lease = await leaseOf(one.filter, 600);
    await redis.client().save();
    await redis.server.restart();
    await eventually('the holder has lost it', () => lease.signal.aborted, BACK_MS);
    await (await expectTaken(other.filter)).release();
  });

  together('counts for nothing when its life was counted before the clock was set back', async () => {
    const redis = await start();
    const admin = redis.client();
    const [one, other] = [await openOn(redis), await openOn(redis)];
    await leaseOf(one.filter, LEASE_MS);
    await admin.pexpire(key, LEASE_MS * 9);
    expect(await other.filter.lease({ leaseMs: LEASE_MS })).toBeUndefined();
    await admin.pexpire(key, 24 * 3_600_000);
    const taken = await leaseOf(other.filter, LEASE_MS);
    expect(await admin.pttl(key)).toBeLessThanOrEqual(LEASE_MS);
    await taken.release();
  });

  together('counts for nothing when it has no life, or is something else', async () => {
    const redis = await start();
    const admin = redis.client();
    const { filter } = await openOn(redis);
    await admin.set(key, 'for ever');
    await (await leaseOf(filter, LEASE_MS)).release();
    await admin.rpush(key, 'a list');
    const lease = await leaseOf(filter, LEASE_MS);
    await admin.del(key);
    await admin.rpush(key, 'a list');
    await lease.release();
    await (await leaseOf(filter, LEASE_MS)).release();
    expect(await admin.exists(key)).toBe(0);
  });

  together(
    'counts until it expires where no server is named: an older version took it, or INFO is refused',
    async () => {
      const redis = await start();
      const admin = redis.client();
      const { filter } = await openOn(redis);
      await admin.set(key, 'older', 'PX', LEASE_MS);
      expect(await filter.lease({ leaseMs: LEASE_MS })).toBeUndefined();
      await admin.del(key);
      const user = await asUser(redis, admin, ['~*', '+@all', '-info']);
      const restricted = await openOn(redis, user);
      const lease = await leaseOf(restricted.filter, LEASE_MS);
      expect(await admin.get(key)).toMatch(/^[0-9a-f]{16}$/);
      expect(await filter.lease({ leaseMs: LEASE_MS })).toBeUndefined();
      await lease.release();
      const next = await leaseOf(filter, LEASE_MS);
      expect(await restricted.filter.lease({ leaseMs: LEASE_MS })).toBeUndefined();
      await next.release();
    },
  );
});
