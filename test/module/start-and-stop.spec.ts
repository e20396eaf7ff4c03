import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { Redis } from 'ioredis';
import { type BloomFilter, type BloomFeature, BloomModule, BloomService } from 'nestjs-bloom';
import { startContext } from '../support/nest-app.js';
import { eventually } from '../support/eventually.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

const products: BloomFeature = {
  name: 'products',
  capacity: 1000,
  source: {
    async *ids() {
      yield ['mug'];
    },
  },
  rebuild: { drainMs: 0 },
};

@Injectable()
class Nowhere {
  async *ids(): AsyncGenerator<string> {}
}

describe('An application on Redis', () => {
  let redis: RedisFixture;
  let admin: Redis;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    admin = redis.client();
  });
  afterAll(() => redis.close());

  function app(features: readonly BloomFeature[], more: ModuleMetadata['imports'] = []): ModuleMetadata {
    const root = BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: () => {} });
    return { imports: [root, BloomModule.forFeature(features), ...more] };
  }

  async function connections(): Promise<number> {
    return (
      String(await admin.client('LIST'))
        .trim()
        .split('\n').length - 1
    );
  }

  it.each<[string, readonly BloomFeature[], ModuleMetadata['imports']]>([
    ['a bad option', [{ ...products, capacity: 0 }], []],
    ['a name that is taken', [products], [BloomModule.forFeature([products])]],
    ['a source that is no provider', [{ ...products, source: Nowhere }], []],
    ['a schedule without ScheduleModule', [{ ...products, rebuild: { cron: '0 4 * * *' } }], []],
    ['a bad cron expression', [{ ...products, rebuild: { cron: 'at noon' } }], [ScheduleModule.forRoot()]],
  ])('that does not start for %s leaves no connection behind', async (_, features, imports) => {
    await expect(startContext(app(features, imports))).rejects.toThrow(/Filter|filter/);
    await eventually('no connection is left', async () => (await connections()) === 0);
  });

  it('closes its connection and its rebuilds when it is closed, at whatever moment', async () => {
    for (const pauseMs of [0, 1, 3, 10, 30]) {
      const module = await startContext(app([{ ...products, rebuild: { onBoot: 'always', drainMs: 5 } }]));
      const filter: BloomFilter = module.get(BloomService).filter('products');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await module.close();
      expect(await filter.check('mug')).toBe('unknown');
      await eventually('no connection is left', async () => (await connections()) === 0);
      expect(await admin.keys('bloom:{products}:next:*')).toEqual([]);
    }
  });

  it('that uses a client of its own keeps it open', async () => {
    const client = redis.client();
    const module = await startContext({
      imports: [BloomModule.forRoot({ redis: client, ...PATIENT, onEvent: () => {}, filters: [products] })],
    });
    await eventually('it is protected', async () => {
      return (await module.get(BloomService).filter('products').check('nothing')) === 'absent';
    });
    await module.close();
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
  });
});
