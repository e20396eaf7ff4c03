import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BloomRedis } from '../../../src/store/redis/index.js';
import { build, idsOf } from '../../../test/support/built-filter.js';
import { eventually } from '../../../test/support/eventually.js';
import { expectFound, expectNeverAbsent } from '../../../test/support/never-absent.js';
import { describeRedisClient } from '../../../test/support/redis-client-contract.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import type { Address } from '../../../test/support/tcp-proxy.js';
import { SentinelSite } from '../../../verification/faults/redis-site.js';
import { Sentinel, SENTINEL_MASTER } from '../../../verification/faults/sentinel.js';
import { addressOf } from './on-cluster.js';

interface SentinelOptions {
  name: string;
  sentinelRootNodes: Address[];
  nodeAddressMap?: Record<string, Address> | ((address: string) => Address | undefined);
}

/** What a Sentinel of node-redis has to keep. */
export function describeOnSentinel(name: string, redisOf: (options: SentinelOptions) => BloomRedis): void {
  describe('With a sentinel that names the server', () => {
    let named: RedisFixture;
    let sentinel: Sentinel;
    beforeAll(async () => {
      named = await RedisFixture.start();
      sentinel = await Sentinel.start(named.server, 0);
    });
    afterAll(async () => {
      await sentinel.stop();
      await named.close();
    });

    describeRedisClient(name, (url) =>
      redisOf({
        name: SENTINEL_MASTER,
        sentinelRootNodes: [sentinel.address],
        // The name leads to the server of the test.
        nodeAddressMap: (address) =>
          address === `${sentinel.address.host}:${sentinel.address.port}` ? undefined : addressOf(url),
      }),
    );
  });

  describe(`A filter on ${name}`, () => {
    it('loses no id and rebuilds when the replica takes over', async () => {
      const [site, instances] = await Promise.all([SentinelSite.start(), RedisFixture.start()]);
      try {
        const { sentinels, natMap } = site;
        const given = () =>
          redisOf({ name: SENTINEL_MASTER, sentinelRootNodes: sentinels, nodeAddressMap: natMap });
        const { filter } = await instances.open('products', { redis: given() });
        const { filter: other } = await instances.open('products', { redis: given() });
        const ids = idsOf('built', 100);
        await build(filter, ids);
        await expectFound([filter, other], ids);
        await site.lag();
        // The replica does not get it.
        expect(await filter.add(['late'])).toEqual([true]);
        await site.failOver();
        await eventually('the new master answers', async () => {
          await expectNeverAbsent([filter, other], [...ids, 'late']);
          return filter.describe().then(
            () => true,
            () => false,
          );
        });
        await build(other, [...ids, 'late']);
        await expectFound([filter, other], [...ids, 'late']);
        await eventually(
          'absent ids are known',
          async () => (await filter.check(['nobody']))[0] === 'absent',
        );
      } finally {
        await instances.close();
        await site.stop();
      }
    });

    it('follows most of the sentinels, not one that is cut off', async () => {
      const [master, stale] = await Promise.all([RedisFixture.start(), RedisFixture.start()]);
      const sentinels = await Promise.all(
        [master, master, stale].map(({ server }) => Sentinel.start(server, 0)),
      );
      // The one that is cut off answers first.
      const sentinelRootNodes = sentinels.map(({ address }) => address).reverse();
      try {
        const redis = redisOf({ name: SENTINEL_MASTER, sentinelRootNodes });
        const { filter } = await master.open('products', { redis });
        await build(filter, ['a']);
        expect(await stale.client().dbsize()).toBe(0);
        expect(await master.client().dbsize()).toBeGreaterThan(0);
      } finally {
        await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
        await Promise.all([master.close(), stale.close()]);
      }
    });

    it('says when no sentinel knows the name', async () => {
      const fixture = await RedisFixture.start();
      const sentinel = await Sentinel.start(fixture.server, 0);
      try {
        const redis = redisOf({ name: 'other', sentinelRootNodes: [sentinel.address] });
        const { filter, events } = await fixture.open('products', { redis });
        expect(await filter.check(['a'])).toEqual(['unknown']);
        expect(events.map((event) => ('error' in event ? String(event.error) : '')).join()).toMatch(
          /knows no primary with the name 'other'/,
        );
      } finally {
        await sentinel.stop();
        await fixture.close();
      }
    });
  });
}
