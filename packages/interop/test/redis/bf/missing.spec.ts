import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BloomFeature, BloomModule } from 'nestjs-bloom';
import { BloomConfigError } from 'nestjs-bloom/filter';
import { BloomRebuildError } from 'nestjs-bloom/store';
import { startContext } from '../../../../../test/support/nest-app.js';
import { build, leaseOf, testPlan } from '../../../../../test/support/built-filter.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { PATIENT } from '../../../../../test/support/patience.js';
import { type Instance, RedisFixture } from '../../../../../test/support/redis-fixture.js';
import { redisBloom } from '../../../src/index.js';

const layout = redisBloom();

describe('On a server without BF.*', () => {
  let redis: RedisFixture;
  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());

  const filters = [
    ['with a source', { async *ids() {} }],
    ['without a source', undefined],
  ] as const;

  it.each(filters)(
    'an application whose filter is %s does not start, and says what to do',
    async (_, source) => {
      const feature: BloomFeature = { name: 'products', capacity: 1000, layout, ...(source && { source }) };
      const module = {
        imports: [
          BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: () => {}, filters: [feature] }),
        ],
      };
      const failure = startContext(module);
      await expect(failure).rejects.toBeInstanceOf(BloomConfigError);
      await expect(failure).rejects.toThrow(
        /Filter 'products': expected a server with BF\.RESERVE, BF\.INSERT, BF\.MEXISTS, BF\.INFO .*Redis 8.*unknown.*Load the module/is,
      );
      const admin = redis.client();
      await eventually('no connection is left', async () => {
        const clients = String(await admin.client('LIST'))
          .trim()
          .split('\n');
        return clients.length === 1;
      });
      expect(await admin.keys('*')).toEqual([]);
      admin.disconnect();
    },
  );

  describe('a filter that is used all the same', () => {
    let instance: Instance;
    beforeAll(async () => {
      instance = await redis.open(redis.name(), {}, { layout });
    });

    it('is unknown', async () => {
      expect(await instance.filter.check(['a'])).toEqual(['unknown']);
    });

    it('is not rebuilt', async () => {
      const lease = await leaseOf(instance.filter);
      const staging = lease.stage(testPlan());
      await expect(staging).rejects.toBeInstanceOf(BloomRebuildError);
      await expect(staging).rejects.toThrow(/expected a server with BF/);
      await lease.release();
    });
  });

  it('filters of the layout blocked work', async () => {
    const { filter } = await redis.open(redis.name());
    await filter.verify();
    await build(filter, ['a']);
    expect(await filter.check(['a', 'b'])).toEqual(['maybe', 'absent']);
  });
});

describe('On a server that cannot be reached', () => {
  it('a filter is not refused, since nobody knows', async () => {
    const redis = await RedisFixture.start();
    await redis.server.kill();
    const { filter, events } = await redis.open('products', { writeTimeoutMs: 100 }, { layout });
    await filter.verify();
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'store-error', operation: 'verify the server' }),
    );
    expect(await filter.check(['a'])).toEqual(['unknown']);
    await redis.close();
  });
});
