import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { BloomService } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { type PostgresServer, requirePostgres } from '../../test/support/postgres-server.js';
import { generateCatalogue } from '../src/catalogue/catalogue.generator.js';
import { startShop } from '../src/start-shop.js';
import { ShopStatistics } from '../src/statistics/shop-statistics.js';

const { products } = generateCatalogue(500);

describe('the shop', () => {
  let postgres: PostgresServer;
  let app: NestFastifyApplication;
  let statistics: ShopStatistics;
  let url: string;

  beforeAll(async () => {
    // The embedded Postgres, with which `.ci/run` starts the demo, takes many times as long.
    postgres = await requirePostgres();
    app = await startShop({
      config: {
        databaseUrl: postgres.url,
        initialProducts: products,
        initialOrders: 1000,
        rebuild: { onBoot: 'if-missing', drainMs: 50 },
        audit: false,
      },
      logger: false,
      port: 0,
    });
    url = await app.getUrl();
    statistics = app.get(ShopStatistics);
    const filters = app.get(BloomService).filters();
    await eventually('all filters are ready', async () => {
      const infos = await Promise.all(filters.map((filter) => filter.info()));
      return infos.every(({ state }) => state === 'ready');
    });
  });
  afterAll(async () => {
    await app?.close();
    await postgres?.stop();
  });

  /** The answer, and what it cost. */
  async function send(method: 'GET' | 'POST', path: string, body?: object) {
    const before = statistics.snapshot();
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    const { cacheLookups, cacheHits, databaseQueries } = statistics.since(before);
    return { status: response.status, body: answer, cacheLookups, cacheHits, databaseQueries };
  }
  const page = (sku: string) => `/products/${encodeURIComponent(sku)}`;

  it('answers an absent SKU without a look at cache or database', async () => {
    for (const sku of ['no such sku', products[0]!.sku.toLowerCase(), `${products[0]!.sku} `, '\0', 'é/?%']) {
      expect(await send('GET', page(sku))).toMatchObject({
        status: 404,
        cacheLookups: 0,
        databaseQueries: 0,
      });
    }
  });

  it('asks cache and database for an absent SKU on the unguarded twin, each time', async () => {
    for (let time = 0; time < 2; time++) {
      const answer = await send('GET', '/unguarded/products/no%20such%20sku');
      expect(answer).toMatchObject({ status: 404, cacheLookups: 1, cacheHits: 0, databaseQueries: 1 });
    }
  });

  it('serves an existing product from the database, then from the cache', async () => {
    const product = products.find(({ sku }) => sku.includes(' '))!;
    const first = await send('GET', page(product.sku));
    const second = await send('GET', page(product.sku));
    expect(first).toMatchObject({ status: 200, cacheHits: 0, databaseQueries: 1 });
    expect(second).toMatchObject({ status: 200, cacheHits: 1, databaseQueries: 0 });
    expect(first.body).toEqual({ ...product, createdAt: product.createdAt.toISOString() });
    expect(second.body).toEqual(first.body);
  });

  it('shows every product of the catalogue', async () => {
    for (const { sku } of products) expect((await fetch(`${url}${page(sku)}`)).status).toBe(200);
  });

  it('shows a product as soon as it is created, and while the filter is rebuilt', async () => {
    const createAll = async () => {
      for (let number = 0; number < 20; number++) {
        const product = { sku: `new product ${number}`, description: 'Made in a test', unitPrice: 1.25 };
        expect(await send('GET', page(product.sku))).toMatchObject({ status: 404, cacheLookups: 0 });
        expect(await send('POST', '/products', product)).toMatchObject({ status: 201 });
        expect(await send('GET', page(product.sku))).toMatchObject({ status: 200, body: product });
      }
    };
    const [report] = await Promise.all([app.get(BloomService).filter('products').rebuild(), createAll()]);
    expect(report).toMatchObject({ outcome: 'published' });
    expect(await send('GET', page('new product 19'))).toMatchObject({ status: 200 });
  });

  it('refuses a SKU that is taken, and a body that is no product', async () => {
    const product = { sku: products[0]!.sku, description: 'A copy', unitPrice: 1 };
    expect(await send('POST', '/products', product)).toMatchObject({ status: 409 });
    for (const wrong of [
      { sku: '' },
      { sku: 'tab\t' },
      { description: 1 },
      { unitPrice: '1' },
      { unitPrice: -1 },
    ]) {
      expect(await send('POST', '/products', { ...product, ...wrong })).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(/^Expected (sku|description|unitPrice) to be /) },
      });
    }
    expect(await send('POST', '/products')).toMatchObject({ status: 400 });
  });

  it('shows an order as soon as it is placed, and asks for no order that was cancelled', async () => {
    const { status, body } = await send('POST', '/orders', { sku: products[0]!.sku });
    expect(status).toBe(201);
    expect(await send('GET', `/orders/${body.id}`)).toMatchObject({ status: 200, body });
    await postgres.run(`insert into orders (sku) values ('from psql')`);
    expect(await send('GET', '/orders/1002')).toMatchObject({ status: 200, body: { sku: 'from psql' } });
    const filter = app.get(BloomService).filter('orders');
    const cancelled = Array.from({ length: 50 }, (_, i) => 10 * (i + 1));
    const verdicts = await filter.checkMany(cancelled);
    // Ids in the largest gaps between rows are unknown.
    expect(verdicts.filter((verdict) => verdict === 'absent').length).toBeGreaterThan(30);
    for (const id of cancelled) expect(await send('GET', `/orders/${id}`)).toMatchObject({ status: 404 });
    expect(await send('POST', '/orders', {})).toMatchObject({ status: 400 });
  });

  it('signs up a new phone number with one query, and refuses it the second time however it is written', async () => {
    const signUp = (phone: string) => send('POST', '/customers', { phone, name: 'Ada' });
    expect(await signUp('+44 20 7946 0018')).toMatchObject({
      status: 201,
      body: { phone: '442079460018' },
      databaseQueries: 1,
    });
    expect(await signUp('0044 (20) 7946-0018')).toMatchObject({ status: 409 });
    expect(await signUp('020 7946 0018')).toMatchObject({ status: 400 });
  });

  it('lets a customer take part in a flash sale once, the first time with one query', async () => {
    const enter = (saleId: string, customerId: string) =>
      send('POST', `/flash-sale/${saleId}/entries`, { customerId });
    expect(await enter('summer', 'ada')).toMatchObject({ status: 201, databaseQueries: 1 });
    expect(await enter('summer', 'ada')).toMatchObject({ status: 409 });
    expect(await enter('winter', 'ada')).toMatchObject({ status: 201 });
    expect(await enter('summer', 'a:b')).toMatchObject({ status: 400 });
  });

  it('makes one entry of two requests at the same moment', async () => {
    const enter = () => send('POST', '/flash-sale/spring/entries', { customerId: 'bob' });
    const statuses = (await Promise.all([enter(), enter()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 409]);
  });

  it('tells its figures', async () => {
    const { body } = await send('GET', '/statistics');
    expect(body).toMatchObject({
      cacheLookups: expect.any(Number),
      databaseQueries: expect.any(Number),
      filters: expect.arrayContaining([
        expect.objectContaining({ name: 'products', state: 'ready', store: 'memory' }),
        expect.objectContaining({ name: 'phones', state: 'ready' }),
        expect.objectContaining({ name: 'flash-sale-entries', state: 'ready' }),
      ]),
    });
  });
});
