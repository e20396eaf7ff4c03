import { expect, it } from '@jest/globals';
import type { BloomLayout } from '../../../../src/filter/index.js';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, leaseOf, testPlan } from '../../../support/built-filter.js';
import { eventually } from '../../../support/eventually.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { asUser } from '../../../support/restricted-user.js';
import { TcpProxy } from '../../../support/tcp-proxy.js';
import { cuckoo } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

const plan = testPlan({ capacity: 100, errorRate: 0.05 });

/** A process that dies after the swap removes nothing: as one that may not. */
async function expectNothingLeft(redis: RedisFixture, layout: BloomLayout, hasSource: boolean) {
  try {
    const admin = redis.client();
    const opened = { layout, plan, hasSource, drainMs: 0 };
    const { filter } = await redis.open('products', {}, opened);
    await build(filter, [], plan);
    await filter.add(['old']);
    const segments = async () =>
      (await admin.keys('bloom:{products}:*')).filter((key) => !key.endsWith(':meta'));
    const old = await segments();
    const user = await asUser(redis, admin, ['~*', '+@all', '-unlink']);
    const { filter: dying } = await redis.open('products', { redis: user }, opened);
    await build(dying, [], plan);
    await filter.add(['new']);
    expect(await filter.check(['new', 'old'])).toEqual(['maybe', 'absent']);
    expect(old.length).toBeGreaterThan(0);
    for (const key of await segments()) expect((await admin.pttl(key)) > 0).toBe(old.includes(key));
  } finally {
    await redis.close();
  }
}

it('A filter that grows leaves no layers for ever when who empties it dies after the swap', async () => {
  await expectNothingLeft(await RedisFixture.start(), scaling(), false);
});

describeOwnBf('A cuckoo filter', () => {
  it('leaves no keys for ever when who rebuilds it dies after the swap', async () => {
    await expectNothingLeft(await ownBfFixture(), cuckoo(), true);
  });
});

it('Staged keys that could not be removed are removed as soon as the connection is back, but those without a life', async () => {
  const redis = await RedisFixture.start();
  const proxy = await TcpProxy.open(redis.server);
  try {
    const admin = redis.client();
    // Two segments and a part of a third.
    const { filter, events } = await redis.open('products', { redis: proxy.url, writeTimeoutMs: 2000 });
    const lease = await leaseOf(filter);
    const staging = await lease.stage(testPlan({ capacity: 600_000 }));
    const staged = async () => (await admin.keys('bloom:{products}:next:*')).sort();
    const [first] = await staged();
    expect((await staged()).length).toBeGreaterThan(2);
    await admin.persist(first!);
    proxy.cut();
    await staging.abort().catch(() => {});
    await lease.release().catch(() => {});
    expect(events).toContainEqual(expect.objectContaining({ type: 'clean-up-failed' }));
    expect((await staged()).length).toBeGreaterThan(2);
    proxy.mend();
    await eventually('what is left is removed', async () => (await staged()).length === 1);
    expect(await staged()).toEqual([first]);
  } finally {
    await proxy.close();
    await redis.close();
  }
});
