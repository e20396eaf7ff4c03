import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  BloomFilter,
  type BloomIdSource,
  BloomModule,
  type BloomOptionsFactory,
  BloomService,
  getBloomFilterToken,
  InjectBloomFilter,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

const opened: TestingModule[] = [];
async function start(...parameters: Parameters<typeof startContext>) {
  const module = await startContext(...parameters);
  opened.push(module);
  return module;
}
afterEach(async () => {
  for (const module of opened.splice(0)) await module.close();
});

@Injectable()
class Shop {
  constructor(@InjectBloomFilter('products') readonly products: BloomFilter) {}
}

@Injectable()
class ProductIds implements BloomIdSource {
  async *ids() {
    yield ['mug', 'cup'];
  }
}

const quiet = { onEvent: () => {} };
const products = { name: 'products', capacity: 1000, errorRate: 1e-6, create: 'first-start' } as const;

describe('BloomModule.forRoot', () => {
  it('registers filters that are injected by name, in every module', async () => {
    @Module({ providers: [Shop] })
    class ShopModule {}
    const module = await start({
      imports: [BloomModule.forRoot({ ...quiet, filters: [products] }), ShopModule],
    });
    const shop = module.get(Shop, { strict: false });
    expect(shop.products).toBeInstanceOf(BloomFilter);
    expect(await shop.products.add('mug')).toBe(true);
    expect(module.get(BloomService).filter('products')).toBe(shop.products);
    expect(module.get(getBloomFilterToken('products'))).toBe(shop.products);
  });

  it('keeps them to the modules that import it when it is not global', async () => {
    @Module({ providers: [Shop] })
    class ShopModule {}
    const root = BloomModule.forRoot({ ...quiet, filters: [products], isGlobal: false });
    await expect(start({ imports: [root, ShopModule] })).rejects.toThrow(/BloomFilter:products/);
    const module = await start({ imports: [root], providers: [Shop] });
    expect(module.get(Shop).products.name).toBe('products');
  });

  it('refuses two filters of one name, a bad option and a bad key prefix', async () => {
    const twice = {
      imports: [BloomModule.forRoot({ ...quiet, filters: [products] }), BloomModule.forFeature([products])],
    };
    await expect(start(twice)).rejects.toThrow(/Two filters are named 'products'/);
    expect(() => BloomModule.forFeature([products, products])).toThrow(/Two filters are named 'products'/);
    expect(() => BloomModule.forRoot({ filters: [products, products] })).toThrow(/Two filters/);
    const bad = { imports: [BloomModule.forRoot({ ...quiet, filters: [{ ...products, errorRate: 5 }] })] };
    await expect(start(bad)).rejects.toThrow(/Filter 'products': Expected errorRate/);
    const redis = 'redis://127.0.0.1:1';
    const braces = () => BloomModule.forRoot({ ...quiet, ...PATIENT, redis, keyPrefix: 'a{b}' });
    expect(braces).toThrow(/expected keyPrefix to be a text without braces/);
    const hasty = () => BloomModule.forRoot({ ...quiet, redis, timeoutMs: 0 });
    expect(hasty).toThrow(/expected timeoutMs to be a number of milliseconds of at least 1, got 0/);
  });

  it('goes on when a listener of its events throws', async () => {
    const onEvent = () => {
      throw new Error('a listener');
    };
    const module = await start({ imports: [BloomModule.forRoot({ onEvent, filters: [products] })] });
    const filter = module.get(BloomService).filter('products');
    expect(await filter.check(null as never)).toBe('unknown');
    expect(await filter.check('mug')).toBe('absent');
  });

  it('keeps two applications in one process apart', async () => {
    const first = await start({ imports: [BloomModule.forRoot({ ...quiet, filters: [products] })] });
    const second = await start({ imports: [BloomModule.forRoot({ ...quiet, filters: [products] })] });
    await first.get(BloomService).filter('products').add('mug');
    expect(await second.get(BloomService).filter('products').check('mug')).toBe('absent');
  });
});

describe('BloomModule.forRootAsync', () => {
  @Injectable()
  class Settings implements BloomOptionsFactory {
    readonly events: BloomEvent[] = [];
    createBloomOptions() {
      return { onEvent: (event: BloomEvent) => void this.events.push(event) };
    }
  }
  @Module({ providers: [Settings], exports: [Settings] })
  class SettingsModule {}

  it.each([
    ['useFactory', { inject: [Settings], useFactory: (settings: Settings) => settings.createBloomOptions() }],
    ['useExisting', { useExisting: Settings }],
  ])('takes its options from %s', async (_, from) => {
    const async = BloomModule.forRootAsync({ imports: [SettingsModule], filters: [products], ...from });
    const module = await start({ imports: [async], providers: [Shop] });
    await module.get(Shop).products.check(null as never);
    expect(module.get(Settings, { strict: false }).events.map(({ type }) => type)).toContain('invalid-id');
  });

  it('takes its options from useClass, and needs one of them', async () => {
    const module = await start({
      imports: [BloomModule.forRootAsync({ useClass: Settings, filters: [products] })],
      providers: [Shop],
    });
    expect(await module.get(Shop).products.check('mug')).toBe('absent');
    expect(() => BloomModule.forRootAsync({})).toThrow(/useFactory, useClass or useExisting/);
  });
});

describe('BloomModule.forFeature', () => {
  it('takes a class for a source, which is a provider of any module', async () => {
    @Module({
      imports: [BloomModule.forFeature([{ ...products, source: ProductIds, rebuild: { onBoot: 'never' } }])],
      providers: [ProductIds, Shop],
    })
    class CatalogueModule {}
    const module = await start({ imports: [BloomModule.forRoot(quiet), CatalogueModule] });
    const filter = module.get(BloomService).filter('products');
    expect(await filter.rebuild()).toMatchObject({ outcome: 'published', ids: 2 });
    expect(await filter.checkMany(['mug', 'plate'])).toEqual(['maybe', 'absent']);
  });

  it('says at start which class is no provider', async () => {
    const feature = BloomModule.forFeature([{ ...products, source: ProductIds }]);
    await expect(start({ imports: [BloomModule.forRoot(quiet), feature] })).rejects.toThrow(
      /Filter 'products' names ProductIds as its source, which is not a provider of any module/,
    );
  });

  it('takes its options from a factory (forFeatureAsync)', async () => {
    @Module({ providers: [ProductIds], exports: [ProductIds] })
    class DatabaseModule {}
    const feature = BloomModule.forFeatureAsync([
      {
        name: 'products',
        imports: [DatabaseModule],
        inject: [ProductIds],
        useFactory: async (source: ProductIds) => ({
          capacity: 1000,
          source,
          rebuild: { onBoot: 'never' as const },
        }),
      },
    ]);
    const module = await start({ imports: [BloomModule.forRoot(quiet), feature], providers: [Shop] });
    const shop = await module.resolve(Shop);
    expect(await shop.products.rebuild()).toMatchObject({ ids: 2 });
  });
});

describe('An application on Redis', () => {
  it('starts without its Redis, lets lookups through, and is protected when it comes up', async () => {
    const redis = await RedisFixture.start();
    const { url } = redis.server;
    await redis.server.kill('SIGTERM');
    const events: BloomEvent[] = [];
    const module = await start({
      imports: [
        BloomModule.forRoot({ redis: url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([{ ...products, source: ProductIds, rebuild: { drainMs: 10 } }]),
      ],
      providers: [ProductIds],
    });
    const filter = module.get(BloomService).filter('products');
    expect(await filter.check('plate')).toBe('unknown');
    await expect(filter.add('plate')).rejects.toHaveProperty('code', 'BLOOM_UNAVAILABLE');
    await redis.server.restart();
    await eventually('it is protected', async () => (await filter.check('nothing')) === 'absent');
    expect(await filter.check('mug')).toBe('maybe');
    expect(events.some(({ type }) => type === 'connection-error')).toBe(true);
    await module.close();
    opened.length = 0;
    await redis.close();
  });
});
