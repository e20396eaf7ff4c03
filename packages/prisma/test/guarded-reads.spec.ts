import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type BloomEvent,
  type BloomFilterOptions,
  BloomGuardRunner,
  type BloomGuardDefaults,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { extendWithBloom, fromPrisma } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { type ShopTables, startShopTables } from '../../../test/support/shop-tables.js';
import { type GeneratedClient, generatedModule } from './generated-client.js';

let shop: ShopTables;
let plain: GeneratedClient;
let KnownError: Awaited<ReturnType<typeof generatedModule>>['Prisma']['PrismaClientKnownRequestError'];
let context: INestApplicationContext | undefined;
const queries: string[] = [];

beforeAll(async () => {
  const [tables, { Prisma, PrismaClient }] = await Promise.all([startShopTables(), generatedModule()]);
  shop = tables;
  KnownError = Prisma.PrismaClientKnownRequestError;
  const adapter = new PrismaPg({ connectionString: shop.server.url });
  plain = new PrismaClient({ adapter, log: [{ emit: 'event', level: 'query' }] });
  plain.$on('query', ({ query }) => queries.push(query));
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await plain?.$disconnect();
  await shop?.stop();
});

type FieldName = 'Product.sku' | 'Product.id' | 'Visit.no';

interface Started extends Pick<BloomFilterOptions, 'audit' | 'shadow'> {
  readonly field?: FieldName;
  readonly guard?: BloomGuardDefaults;
  readonly isBuilt?: boolean;
}

const events: BloomEvent[] = [];
const guardEvents = () => events.map(({ type }) => type).filter((type) => !type.startsWith('rebuild'));
let number = 0;
const row = (sku: string) => ({ sku, no: --number, shelf: 's', digest: Buffer.from(`digest of ${sku}`) });

/** A filter that was built, and a client that it guards. */
async function start({ field = 'Product.sku', guard, isBuilt = true, ...options }: Started = {}) {
  const model = (client: GeneratedClient) => (field === 'Visit.no' ? client.visit : client.product);
  const column = field.split('.')[1] as never;
  context = await startContext({
    imports: [
      BloomModule.forRoot({ guard, onEvent: (event) => void events.push(event) }),
      BloomModule.forFeature({
        name: 'rows',
        capacity: 1000,
        errorRate: 1e-6,
        source: fromPrisma(plain, model, column),
        rebuild: { drainMs: 0, onBoot: 'never' },
        audit: false,
        ...options,
      }),
    ],
  });
  const runner = context.get(BloomGuardRunner, { strict: false });
  const service = context.get(BloomService);
  const client = extendWithBloom(plain, runner, model, column, { filter: 'rows', guard: true });
  const filter = service.filter('rows');
  if (isBuilt) await filter.rebuild();
  queries.length = events.length = 0;
  const counts = () => service.metrics()[0]!.methods;
  return { client, filter, counts };
}

describe('extendWithBloom with guard', () => {
  it('answers findUnique of an absent id with null and no query, and finds every row', async () => {
    const { client, counts } = await start();
    expect(await client.product.findUnique({ where: { sku: 'none' } })).toBeNull();
    const select = { sku: true, kind: { select: { name: true } } };
    expect(await client.product.findUnique({ where: { sku: 'none', no: 1n }, select })).toBeNull();
    expect(queries).toEqual([]);
    const found = await client.product.findUnique({ where: { sku: 'sku-2' }, select });
    expect(found).toEqual({ sku: 'sku-2', kind: null });
    expect(counts()).toMatchObject([
      { method: 'Product.findUnique', absent: 2, maybe: 1, saved: 2, foundNothing: 0 },
    ]);
    expect(guardEvents()).toEqual([]);
  });

  it("ends findUniqueOrThrow of an absent id with the error of Prisma's that the database ends it with", async () => {
    const { client, counts } = await start();
    const find = (args: object) =>
      client.product.findUniqueOrThrow(args).then(
        () => new Error('found'),
        (error: Error) => error,
      ) as Promise<Error>;
    const first = await find({ where: { sku: 'none' } });
    expect(queries).toHaveLength(1);
    const second = await find({ where: { sku: 'none' } });
    expect(queries).toHaveLength(1);
    for (const error of [first, second]) {
      expect(error).toBeInstanceOf(KnownError);
      expect(error).toMatchObject({ code: 'P2025', name: first.name, meta: { modelName: 'Product' } });
    }
    expect(first.message.endsWith(second.message)).toBe(true);
    expect(second.message).toMatch(/^[^\n]*[Nn]o record was found[^\n]*$/);
    // The filter lets it through, and the database has no such row.
    const third = await find({ where: { sku: 'sku-2', no: 1n } });
    expect(third).toBeInstanceOf(KnownError);
    expect(await client.product.findUniqueOrThrow({ where: { sku: 'sku-2' } })).toMatchObject({
      shelf: /s2/,
    });
    expect(counts()).toMatchObject([
      { method: 'Product.findUniqueOrThrow', absent: 2, maybe: 2, saved: 2, foundNothing: 1 },
    ]);
  });

  it('lets all pass while it is off, in shadow, or does not know', async () => {
    const { client, filter, counts } = await start({ shadow: true });
    await plain.product.create({ data: row('unseen') });
    queries.length = 0;
    expect(await client.product.findUnique({ where: { sku: 'none' } })).toBeNull();
    expect(await client.product.findUnique({ where: { sku: 'unseen' } })).toMatchObject({ sku: 'unseen' });
    await expect(client.product.findUniqueOrThrow({ where: { sku: 'none' } })).rejects.toThrow(KnownError);
    expect(await client.product.findUniqueOrThrow({ where: { sku: 'unseen' } })).toBeDefined();
    expect(queries).toHaveLength(4);
    expect(guardEvents()).toEqual(['wrong-absent', 'advice', 'wrong-absent', 'advice']);
    expect(events.find(({ type }) => type === 'wrong-absent')).toMatchObject({
      id: 'unseen',
      method: 'Product.findUnique',
    });
    filter.guarding.mode = 'off';
    expect(await client.product.findUnique({ where: { sku: 'unseen' } })).not.toBeNull();
    expect(counts()).toMatchObject([
      { absent: 2, saved: 0 },
      { absent: 2, saved: 0 },
    ]);
    await context?.close();
    const other = await start({ isBuilt: false });
    expect(await other.client.product.findUnique({ where: { sku: 'sku-2' } })).not.toBeNull();
  });

  it('compares absent answers by the audit', async () => {
    const { client } = await start({ audit: { sampleRate: 1 } });
    await plain.product.create({ data: row('audited') });
    expect(await client.product.findUnique({ where: { sku: 'audited' } })).toMatchObject({ sku: 'audited' });
    expect(guardEvents()).toContain('wrong-absent');
  });

  it('finds what a transaction has created before its commit, also by an id of the database', async () => {
    const { client } = await start({ field: 'Product.id' });
    await client.$transaction(async (transaction) => {
      const { product } = transaction;
      const { id } = await product.create({ data: row('own') });
      expect(await product.findUnique({ where: { id } })).toMatchObject({ id });
      const [{ id: other }] = await product.createManyAndReturn({ data: [row('own 2')] });
      expect(await product.findUniqueOrThrow({ where: { id: other.toUpperCase() } })).toBeDefined();
      const before = queries.length;
      expect(await product.findUnique({ where: { id: crypto.randomUUID() } })).toBeNull();
      expect(queries).toHaveLength(before);
    });
  });

  it('leaves batches, relations, and conditions without the id to Prisma', async () => {
    const { client, counts } = await start();
    const { product } = client;
    const find = (sku: string) => product.findUnique({ where: { sku } });
    const found = await client.$transaction([find('none'), find('sku-2'), find('none')]);
    expect(found).toMatchObject([null, { sku: 'sku-2' }, null]);
    expect(await product.findUnique({ where: { sku: 'sku-2' } }).kind()).toBeNull();
    expect(await product.findUnique({ where: { no: 1n } })).toBeNull();
    expect(
      await product.findUnique({ where: { no: 9007199254740995n, NOT: { sku: 'none' } } }),
    ).not.toBeNull();
    await expect(product.findUnique({ where: {} })).rejects.toThrow(/Invalid/);
    await expect(product.findUnique()).rejects.toThrow(/Invalid/);
    expect(counts()).toEqual([]);
  });

  it('keeps the batching of Prisma: lookups of one tick are one query', async () => {
    const { client } = await start();
    const skus = ['none', 'sku-2', 'sku-4', 'other', 'sku-6'];
    const found = await Promise.all(skus.map((sku) => client.product.findUnique({ where: { sku } })));
    expect(found.map((one) => one?.sku)).toEqual([undefined, 'sku-2', 'sku-4', undefined, 'sku-6']);
    expect(queries).toHaveLength(1);
  });

  it('reads the id in a key of several fields', async () => {
    const { client } = await start({ field: 'Visit.no' });
    const at = new Date('2026-01-01T00:00:00.000Z');
    expect(await client.visit.findUnique({ where: { at_no: { at, no: 777 } } })).toBeNull();
    expect(queries).toEqual([]);
    const stored = await plain.visit.create({ data: { at, no: 5000, visitor: 'late' } });
    expect(await client.visit.findUnique({ where: { at_no: { at, no: 5000 } } })).toBeNull();
    await client.visit.update({ where: { at_no: { at, no: 5000 } }, data: { no: 5001 } });
    expect(await client.visit.findUnique({ where: { at_no: { at, no: 5001 } } })).toMatchObject({
      visitor: stored.visitor,
    });
  });

  it('answers what it does not know as the application says', async () => {
    const guard = { onUnknown: 'unavailable', onAbsent: 'not-found' } as const;
    const built = await start({ guard });
    expect(await built.client.product.findUnique({ where: { sku: 'none' } })).toBeNull();
    await context?.close();
    const { client } = await start({ guard, isBuilt: false });
    await expect(client.product.findUnique({ where: { sku: 'sku-2' } })).rejects.toThrow(/Unavailable/);
  });

  it('is an error at start where nobody has registered its filter', async () => {
    const provided = {
      provide: 'PRISMA',
      inject: [BloomGuardRunner],
      useFactory: (runner: BloomGuardRunner) =>
        extendWithBloom(plain, runner, ({ product }) => product, 'sku', { filter: 'rwos', guard: true }),
    };
    const starting = startContext({ imports: [BloomModule.forRoot({})], providers: [provided] });
    await expect(starting).rejects.toThrow(/extendWithBloom.*'rwos', which is not registered/);
  });

  it('guards nothing in place of a runner of a test', async () => {
    const client = extendWithBloom(plain, {} as BloomGuardRunner, ({ product }) => product, 'sku', {
      filter: 'rows',
      guard: true,
    });
    expect(await client.product.findUnique({ where: { sku: 'sku-2' } })).not.toBeNull();
  });
});
