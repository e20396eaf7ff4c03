import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomFilterOptions,
  BloomGuarded,
  BloomModule,
  type BloomModuleOptions,
  BloomRegisters,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

const ROWS = ['a-1', 'a-2'];

@Injectable()
class Products {
  /** What the table answers, in place of its rows. */
  found: unknown;

  @BloomGuarded('products')
  async find(_sku: string): Promise<unknown> {
    return this.found;
  }

  @BloomGuarded('products', { coalesce: { key: () => '' } })
  async findTogether(_sku: string): Promise<unknown> {
    await new Promise(setImmediate);
    return this.found;
  }

  @BloomRegisters('products', { onError: 'queue' })
  async create(sku: string): Promise<string> {
    return sku;
  }

  @BloomRegisters('products', { onError: 'queue' })
  async createSlowly(sku: string): Promise<string> {
    // Past half of `drainMs`: the id is added a second time.
    await new Promise((resolve) => setTimeout(resolve, 30));
    return sku;
  }

  @BloomRegisters('products', { from: 'result', id: (skus: string[]) => skus, onError: 'queue' })
  async createMany(skus: string[]): Promise<string[]> {
    return skus;
  }
}

describe('A call forms the key of its id once', () => {
  let redis: RedisFixture;
  let app: TestingModule;
  let products: Products;
  let normalized: unknown[];

  async function start(options: Partial<BloomFilterOptions> = {}, store: 'memory' | 'redis' = 'memory') {
    const module: BloomModuleOptions = store === 'redis' ? { redis: redis.server.url, ...PATIENT } : {};
    @Module({
      imports: [
        BloomModule.forRoot({
          ...module,
          filters: [
            {
              name: 'products',
              capacity: 1000,
              errorRate: 1e-6,
              normalize: (id) => (normalized.push(id), String(id).toLowerCase()),
              source: {
                async *ids() {
                  yield ROWS;
                },
              },
              rebuild: { onBoot: 'never', drainMs: 40 },
              audit: false,
              ...options,
            },
          ],
        }),
      ],
      providers: [Products],
    })
    class App {}
    app = await startContext({ imports: [App] });
    products = app.get(Products, { strict: false });
    await filter().rebuild();
    // What was added or built lately is not remembered as denied.
    await new Promise((resolve) => setTimeout(resolve, 50));
    normalized.length = 0;
  }

  const filter = () => app.get(BloomService, { strict: false }).filter('products');

  beforeAll(async () => {
    redis = await RedisFixture.start();
  });
  afterAll(() => redis.close());
  beforeEach(() => {
    normalized = [];
  });
  afterEach(() => app.close());

  it('for an absent id and for a present one', async () => {
    await start();
    expect(await products.find('None')).toBe(null);
    expect(normalized).toEqual(['None']);
    products.found = 'row';
    expect(await products.find('A-1')).toBe('row');
    expect(normalized).toEqual(['None', 'A-1']);
  });

  it('for one that the audit lets through, which is found, reported and recorded', async () => {
    await start({ audit: { sampleRate: 1 } });
    expect(await products.find('Denied')).toBe(undefined);
    products.found = 'row';
    expect(await products.find('Wrong')).toBe('row');
    await eventually('the id is recorded', () => filter().guarding.counts().wrongAbsents === 1);
    await eventually('the id is recorded', async () => normalized.length >= 2);
    expect(normalized).toEqual(['Denied', 'Wrong']);
  });

  it('in shadow mode, and while guards are off', async () => {
    await start({ shadow: true });
    products.found = 'row';
    expect(await products.find('Shadow')).toBe('row');
    await eventually('the wrong absent is reported', () => filter().guarding.counts().wrongAbsents === 1);
    expect(normalized).toEqual(['Shadow']);
    filter().guarding.mode = 'off';
    expect(await products.find('Off')).toBe('row');
    expect(normalized).toEqual(['Shadow']);
    expect(await products.findTogether('Off')).toBe('row');
    expect(normalized).toEqual(['Shadow', 'Off']);
  });

  it('for calls that share one run', async () => {
    await start();
    products.found = 'row';
    expect(await Promise.all(['A-1', 'a-1'].map((sku) => products.findTogether(sku)))).toEqual([
      'row',
      'row',
    ]);
    expect(normalized).toEqual(['A-1', 'a-1']);
  });

  it.each(['memory', 'redis'] as const)('with the negative cache of this process, on %s', async (store) => {
    await start({ negativeCache: true }, store);
    products.found = null;
    expect(await products.find('A-1')).toBe(null);
    expect(await products.find('A-1')).toBe(null);
    expect(filter().guarding.counts().remembered).toBe(1);
    expect(normalized).toEqual(['A-1', 'A-1']);
  });

  it('with a negative cache that processes share', async () => {
    await start({ negativeCache: { shared: true } }, 'redis');
    products.found = null;
    for (let i = 1; i <= 5; i++) {
      expect(await products.find('A-1')).toBe(null);
      expect(normalized).toHaveLength(i);
    }
  });

  it('for an id that is registered, also when it is added a second time', async () => {
    await start();
    await products.create('New');
    expect(normalized).toEqual(['New']);
    await products.createSlowly('Slow');
    expect(normalized).toEqual(['New', 'Slow']);
    await products.createMany(['X', 'Y']);
    expect(normalized).toEqual(['New', 'Slow', 'X', 'Y']);
    expect(await filter().checkMany(['new', 'slow', 'x', 'y'])).toEqual(['maybe', 'maybe', 'maybe', 'maybe']);
  });

  it('records all rows that were created when normalize refuses one of them', async () => {
    await start({
      normalize: (id) => {
        if (id === 'bad') throw new RangeError('A test.');
        return id;
      },
    });
    await expect(products.createMany(['x', 'bad', 'y'])).rejects.toThrow(RangeError);
    expect(await filter().checkMany(['x', 'y'])).toEqual(['maybe', 'maybe']);
  });
});
