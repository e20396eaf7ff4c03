import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomGuarded, BloomModule, BloomRegisters, BloomService } from 'nestjs-bloom';
import { defer, firstValueFrom, type Observable } from 'rxjs';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

interface Product {
  sku: string;
}

const source = {
  async *ids() {
    yield ['mug'];
  },
};

@Injectable()
class Products {
  readonly rows = new Map<string, Product>();

  @BloomGuarded('products', { id: 'sku' })
  async find({ sku }: Product): Promise<Product | null> {
    return this.rows.get(sku) ?? null;
  }

  @BloomRegisters('products', { id: 'sku' })
  async createTrimmed(product: Product): Promise<void> {
    product.sku = product.sku.trim();
    this.rows.set(product.sku, product);
  }

  @BloomRegisters('products', { id: 'sku' })
  async createCopy({ sku }: Product): Promise<Product> {
    const product = { sku: sku.toUpperCase() };
    this.rows.set(product.sku, product);
    return product;
  }

  @BloomRegisters('products', { id: (products: Product[]) => products.map(({ sku }) => sku) })
  async createMany(products: Product[]): Promise<void> {
    for (const product of products) await this.createTrimmed(product);
  }

  @BloomRegisters('products', { id: 'sku' })
  async createStream({ sku }: Product): Promise<Observable<Product>> {
    return defer(() => this.createCopy({ sku }));
  }

  @BloomRegisters('products', { id: 'sku' })
  async createAndFail(product: Product): Promise<void> {
    await this.createTrimmed(product);
    throw new RangeError('The connection was lost after COMMIT.');
  }

  @BloomRegisters('products', { id: 'sku' })
  async createUnchanged({ sku }: Product): Promise<object> {
    this.rows.set(sku, { sku });
    return { sku: { text: sku } };
  }

  @BloomRegisters('products', { id: ({ sku }: Product) => sku.trim() })
  async createAndEmpty(product: Product): Promise<void> {
    delete (product as Partial<Product>).sku;
  }
}

describe('@BloomRegisters compares what it recorded with what the method has made of it', () => {
  let redis: RedisFixture;
  let app: TestingModule;
  let products: Products;
  let events: BloomEvent[];

  beforeAll(async () => void (redis = await RedisFixture.start()));
  afterAll(() => redis.close());

  beforeEach(async () => {
    events = [];
    app = await startContext({
      imports: [
        BloomModule.forRoot({
          redis: redis.server.url,
          ...PATIENT,
          keyPrefix: redis.name(),
          filters: [{ name: 'products', capacity: 1000, errorRate: 1e-6, source, rebuild: { drainMs: 0 } }],
          onEvent: (event) => events.push(event),
        }),
      ],
      providers: [Products],
    });
    await app.get(BloomService).whenReady();
    products = app.get(Products);
  });

  afterEach(() => app.close());

  const advice = () =>
    events.flatMap((event) =>
      event.type === 'advice' && event.text.includes(' wrote a row ') ? [event.text] : [],
    );

  it.each<[string, string, () => Promise<unknown>]>([
    ['its argument', 'A', () => products.createTrimmed({ sku: ' A ' })],
    ['the row that it returns', 'A', () => products.createCopy({ sku: 'a' })],
    ['one of many', 'B', () => products.createMany([{ sku: 'A' }, { sku: 'B ' }])],
    [
      'the first value of its stream',
      'A',
      async () => firstValueFrom(await products.createStream({ sku: 'a' })),
    ],
    ['its argument before it failed', 'A', () => products.createAndFail({ sku: ' A ' }).catch(() => {})],
  ])('finds a row whose id is another one in %s, and says so', async (_where, sku, create) => {
    await create();
    expect(await products.find({ sku })).toEqual({ sku });
    expect(advice()).not.toEqual([]);
    for (const text of advice()) {
      expect(text).toMatch(
        new RegExp(
          `^BLOOM_OTHER_ID_WRITTEN: Products\\.create\\w+ wrote a row whose id, '${sku}', is another one`,
        ),
      );
    }
  });

  it('says nothing where nothing has changed, and takes no value for an id that is none', async () => {
    await products.createUnchanged({ sku: 'A' });
    expect(await products.find({ sku: 'A' })).toEqual({ sku: 'A' });
    expect([...advice(), ...events.filter(({ type }) => type.endsWith('-error'))]).toEqual([]);
  });

  it('reports a function that fails on what the method has left of its argument', async () => {
    await products.createAndEmpty({ sku: 'A' });
    expect(events).toContainEqual({
      type: 'guard-error',
      filter: 'products',
      method: 'Products.createAndEmpty',
      operation: 'id',
      error: expect.any(TypeError),
    });
  });
});
