import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type BloomEvent,
  type BloomFilterOptions,
  BloomGuarded,
  BloomModule,
  BloomOverloadError,
  BloomRegisters,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { HeldCalls } from './support/budgeted-filter.js';

const SKUS = Array.from({ length: 500 }, (_, i) => `sku-${i}`);
let isBuilding = true;

const source = {
  async *ids() {
    yield SKUS;
    while (!isBuilding) await new Promise((resolve) => setTimeout(resolve, 20));
  },
};

let calls: HeldCalls;

@Injectable()
class Products {
  readonly rows = new Set(SKUS);

  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return this.rows.has(sku) ? sku : null;
  }

  @BloomGuarded('products')
  async hold(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @BloomRegisters('products')
  async create(sku: string): Promise<void> {
    this.rows.add(sku);
  }
}

describe('While a filter in Redis cannot judge', () => {
  let redis: RedisFixture;
  let app: TestingModule | undefined;
  let events: BloomEvent[];
  beforeAll(async () => void (redis = await RedisFixture.start()));
  afterAll(() => redis.close());
  afterEach(async () => {
    isBuilding = true;
    calls.endAll();
    await app?.close();
  });

  async function start(options: Partial<BloomFilterOptions> = {}): Promise<Products> {
    calls = new HeldCalls();
    events = [];
    isBuilding = true;
    app = await startContext({
      imports: [
        BloomModule.forRoot({
          redis: redis.server.url,
          ...PATIENT,
          keyPrefix: redis.name(),
          guard: { onUnknown: { concurrent: 1, queue: 0 } },
          filters: [
            {
              name: 'products',
              capacity: 1000,
              errorRate: 1e-6,
              source,
              audit: false,
              rebuild: { drainMs: 0 },
              ...options,
            },
          ],
          onEvent: (event) => events.push(event),
        }),
      ],
      providers: [Products],
    });
    await app.get(BloomService).whenReady();
    return app.get(Products);
  }

  const metrics = () => app!.get(BloomService).metrics()[0]!;

  /** All keys are gone, and the rebuild does not end. */
  async function lose(products: Products): Promise<void> {
    isBuilding = false;
    await redis.client().flushall();
    await eventually('the loss is noticed', async () => {
      await products.find('none').catch(() => {});
      return metrics().state === 'lost';
    });
    void products.hold('holds the place');
    await eventually('the place is held', () => calls.ids.includes('holds the place'));
  }

  async function expectOrder(products: Products): Promise<void> {
    await lose(products);
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        expect(products.find(`none-${i % 3}`)).rejects.toBeInstanceOf(BloomOverloadError),
      ),
    );
    expect(await Promise.all(SKUS.slice(0, 50).map((sku) => products.find(sku)))).toEqual(SKUS.slice(0, 50));
    expect(metrics().budget).toMatchObject({ limit: 1, running: 1, isExceeded: true });
    isBuilding = true;
    await eventually(
      'the filter is back',
      async () => (await products.find('none-7').catch(() => 'refused')) === null,
    );
    expect(await products.find('sku-1')).toBe('sku-1');
    expect(events.filter(({ type }) => type === 'overload-started').length).toBe(1);
  }

  it('ids of the last copy pass, and others are refused', async () => {
    const products = await start();
    await eventually('the copy answers', async () => {
      await products.find('sku-1');
      return metrics().lookups.local > 0;
    });
    await expectOrder(products);
    await app!.close();
    expect(events.filter(({ type }) => type === 'overload-ended').length).toBe(1);
  });

  it('ids whose rows were seen pass, where there is no copy', async () => {
    const products = await start({ replica: 'off' });
    for (const sku of SKUS.slice(0, 50)) await products.find(sku);
    await expectOrder(products);
  });

  it('ids that this process has added pass, and their rows are found', async () => {
    const products = await start();
    await products.create('added');
    await lose(products);
    await expect(products.find('none')).rejects.toBeInstanceOf(BloomOverloadError);
    expect(await products.find('added')).toBe('added');
  });
});
