import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BloomRebuildError } from '../../../../src/common/index.js';
import type { BloomLayout } from '../../../../src/filter/index.js';
import { describeOwnBf, ownBfFixture } from '../../../support/bf-server.js';
import { build, leaseOf, testPlan } from '../../../support/built-filter.js';
import { RedisFixture } from '../../../support/redis-fixture.js';
import { cuckoo, redisBloom } from '@nestjs-bloom/interop';
import { scaling } from '@nestjs-bloom/interop/scaling';

describe('A filter without a source that somebody makes again, empty', () => {
  keepsFromBeingMadeAgain('that grows', scaling(), () => RedisFixture.start());
});

describeOwnBf('A filter without a source on the server that somebody makes again, empty', () => {
  keepsFromBeingMadeAgain('of BF.*', redisBloom(), ownBfFixture);
  keepsFromBeingMadeAgain('of CF.*', cuckoo(), ownBfFixture);
});

function keepsFromBeingMadeAgain(
  kind: string,
  layout: BloomLayout,
  start: () => Promise<RedisFixture>,
): void {
  describe(kind, () => {
    let redis: RedisFixture;
    let admin: Redis;
    beforeAll(async () => {
      redis = await start();
      admin = redis.client();
    });
    afterAll(() => redis.close());

    /** One that knows an id, and one that has never seen the filter. */
    async function open() {
      const name = redis.name();
      const plan = testPlan({ capacity: 1000, errorRate: 0.01 });
      const openOne = async () =>
        (await redis.open(name, {}, { layout, plan, hasSource: false, drainMs: 0 })).filter;
      const [knows, newcomer] = [await openOne(), await openOne()];
      await build(knows, []);
      await knows.add(['known']);
      return { name, knows, newcomer, plan };
    }

    it('is not made while somebody looks who knew it', async () => {
      const { name, knows, newcomer, plan } = await open();
      await admin.del(...(await admin.keys(`*{${name}}*meta`)));

      const lease = await leaseOf(newcomer);
      // From here on there are metadata again, which say that nothing was built.
      const staging = await lease.stage(plan);
      expect((await knows.describe()).state).toBe('lost');
      await expect(staging.commit(0)).rejects.toThrow(BloomRebuildError);
      await lease.release();

      expect((await newcomer.describe()).state).toBe('lost');
      expect(await knows.check(['known'])).toEqual(['unknown']);
      expect(await newcomer.check(['known'])).toEqual(['unknown']);
    });

    it('is taken offline by who knew it, until it is emptied by decision', async () => {
      const { name, knows, newcomer } = await open();
      await admin.del(...(await admin.keys(`*{${name}}*`)));
      await build(newcomer, []);
      expect((await newcomer.describe()).state).toBe('ready');

      expect((await knows.describe()).state).toBe('lost');
      expect(await knows.check(['known'])).toEqual(['unknown']);
      expect((await newcomer.describe()).state).toBe('lost');

      await build(knows, ['new']);
      for (const filter of [knows, newcomer]) {
        expect((await filter.describe()).state).toBe('ready');
        expect(await filter.check(['new', 'known'])).toEqual(['maybe', 'absent']);
      }
    });
  });
}
