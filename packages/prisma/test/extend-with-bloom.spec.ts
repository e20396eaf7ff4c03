import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { type BloomEvent, BloomGuardRunner, BloomModule, BloomService } from 'nestjs-bloom';
import { extendWithBloom, fromPrisma } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { type ShopTables, startShopTables } from '../../../test/support/shop-tables.js';
import { type GeneratedClient, generatedClient } from './generated-client.js';
import type { LibraryClient } from './library.js';

let shop: ShopTables;
let plain: GeneratedClient;
let context: INestApplicationContext | undefined;

beforeAll(async () => {
  const [tables, Client] = await Promise.all([startShopTables(), generatedClient()]);
  shop = tables;
  plain = new Client({ adapter: new PrismaPg({ connectionString: shop.server.url }) });
});
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await plain?.$disconnect();
  await shop?.stop();
});

const products = (client: GeneratedClient) => client.product;
const events: BloomEvent[] = [];
let number = 0;
const row = (sku: string) => ({ sku, no: ++number, shelf: 's', digest: Buffer.from(`digest of ${sku}`) });

/** What a query extension gets. */
interface LaterWrite {
  readonly args: Readonly<Record<string, object | undefined>>;
  readonly query: (args: object) => Promise<object>;
}

/** Filters that were built, and a client that fills them. */
async function start() {
  const filter = (name: string, field: 'id' | 'sku') => ({
    name,
    capacity: 1000,
    errorRate: 1e-6,
    source: fromPrisma(plain, products, field),
    rebuild: { drainMs: 0, onBoot: 'never' as const },
  });
  const onEvent = (event: BloomEvent) => void events.push(event);
  context = await startContext({
    imports: [BloomModule.forRoot({ onEvent, filters: [filter('skus', 'sku'), filter('ids', 'id')] })],
  });
  const runner = context.get(BloomGuardRunner, { strict: false });
  const service = context.get(BloomService);
  const [skus, ids] = [service.filter('skus'), service.filter('ids')];
  for (const one of [skus, ids]) await one.rebuild();
  events.length = 0;
  const bySku = extendWithBloom(plain, runner, products, 'sku', { filter: 'skus' });
  const client = extendWithBloom(bySku, runner, products, 'id', { filter: 'ids' });
  return { skus, ids, client, bySku };
}

describe('extendWithBloom', () => {
  it('records what is created, upserted and updated, also ids that the database makes', async () => {
    const { skus, ids, client, bySku } = await start();
    expect(await skus.check('created')).toBe('absent');
    const created = await client.product.create({ data: row('created') });
    const many = await client.product.createManyAndReturn({
      data: [row('one'), row('two')],
      select: { sku: true },
    });
    expect(many).toEqual([{ sku: 'one' }, { sku: 'two' }]);
    await bySku.product.createMany({ data: [row('three'), row('four')] });
    await client.product.upsert({ where: { sku: 'up' }, create: row('up'), update: {} });
    await client.product.upsert({
      where: { sku: 'up' },
      create: row('up'),
      update: { sku: { set: 'upper' } },
    });
    await client.product.update({ where: { sku: 'created' }, data: { sku: 'renamed' } });
    const omitted = await client.product.create({ data: row('omitted'), omit: { id: true } });
    expect(Object.keys(omitted)).not.toContain('id');
    expect(omitted).toMatchObject({ sku: 'omitted' });
    for (const sku of ['created', 'one', 'two', 'three', 'four', 'up', 'upper', 'renamed', 'omitted'])
      expect([sku, await skus.check(sku)]).toEqual([sku, 'maybe']);
    const rows = await plain.product.findMany({ where: { sku: { in: ['one', 'two', 'upper', 'omitted'] } } });
    expect(rows).toHaveLength(4);
    for (const { id } of [created, ...rows]) expect(await ids.check(id)).toBe('maybe');
    expect(await skus.check('other')).toBe('absent');
  });

  it('records rows that are written with those of other models, and of its own', async () => {
    const { skus, bySku } = await start();
    const client = extendWithBloom(
      bySku,
      context!.get(BloomGuardRunner, { strict: false }),
      (one) => one.kind,
      'name',
      {
        filter: 'skus',
      },
    );
    await client.kind.create({
      data: {
        name: 'top',
        products: { create: [row('n1'), row('n2')] },
        children: { create: { name: 'leaf', products: { createMany: { data: [row('n3')] } } } },
      },
    });
    await client.kind.update({
      where: { name: 'top' },
      data: {
        products: {
          update: { where: { sku: 'n1' }, data: { sku: 'n1-renamed' } },
          connectOrCreate: { where: { sku: 'n4' }, create: row('n4') },
          upsert: { where: { sku: 'n5' }, create: row('n5'), update: { sku: 'n5-renamed' } },
          updateMany: { where: { sku: 'none' }, data: { sku: 'n6' } },
        },
        children: { update: { where: { name: 'leaf' }, data: { products: { create: row('n7') } } } },
      },
    });
    await client.product.update({
      where: { sku: 'n2' },
      data: {
        kind: {
          update: {
            children: { create: { name: 'twig', products: { create: row('n8') } } },
          },
        },
      },
    });
    const written = ['n1', 'n2', 'n3', 'n1-renamed', 'n4', 'n5', 'n5-renamed', 'n6', 'n7', 'n8'];
    for (const id of [...written, 'top', 'leaf', 'twig'])
      expect([id, await skus.check(id)]).toEqual([id, 'maybe']);
    expect(await plain.product.count({ where: { sku: { startsWith: 'n' } } })).toBe(7);
  });

  it('refuses rows that are written with others if the database makes their ids', async () => {
    const { client } = await start();
    const made = client.kind.create({ data: { name: 'made', products: { create: row('made') } } });
    await expect(made).rejects.toThrow(
      /Product\.id is not known, since the database makes it\. Instead give the value itself/,
    );
    expect(await plain.kind.count({ where: { name: 'made' } })).toBe(0);
  });

  it('reads what the database makes where the client leaves it out of every result', async () => {
    const { ids } = await start();
    const adapter = new PrismaPg({ connectionString: shop.server.url });
    const omitting = new (await generatedClient())({ adapter, omit: { product: { id: true } } });
    const runner = context!.get(BloomGuardRunner, { strict: false });
    const client = extendWithBloom(omitting, runner, products, 'id', { filter: 'ids' });
    expect(Object.keys(await client.product.create({ data: row('hidden') }))).not.toContain('id');
    const { id } = await plain.product.findUnique({ where: { sku: 'hidden' } });
    expect(await ids.check(id)).toBe('maybe');
    await omitting.$disconnect();
  });

  it('writes nothing of a batch of which one id cannot be recorded', async () => {
    const { client } = await start();
    const batch = [
      client.product.create({ data: row('batched') }),
      client.product.create({ data: row('x'.repeat(2000)) }),
    ];
    await expect(client.$transaction(batch as never)).rejects.toThrow(/1024/);
    expect(await plain.product.findUnique({ where: { sku: 'batched' } })).toBeNull();
  });

  it('has added an id before its row can be seen, in transactions too', async () => {
    const { skus, client } = await start();
    await client.$transaction(async (transaction) => {
      await transaction.product.create({ data: row('early') });
      expect(await plain.product.findUnique({ where: { sku: 'early' } })).toBeNull();
      expect(await skus.check('early')).toBe('maybe');
    });
    expect(await plain.product.findUnique({ where: { sku: 'early' } })).not.toBeNull();
  });

  it('writes nothing that cannot be recorded', async () => {
    const { skus, client } = await start();
    await expect(client.product.create({ data: row('x'.repeat(2000)) })).rejects.toThrow(/1024/);
    await expect(client.product.createMany({ data: [row('made')] })).rejects.toThrow(
      /Product\.id is not known, since the database makes it\. Instead use createManyAndReturn/,
    );
    expect(await plain.product.findUnique({ where: { sku: 'made' } })).toBeNull();
    await plain.product.create({ data: row('past') });
    expect(await skus.check('past')).toBe('absent');
  });

  it('records a row that is created without any data', async () => {
    const { ids } = await start();
    const runner = context!.get(BloomGuardRunner, { strict: false });
    const client = extendWithBloom(plain, runner, (made) => made.ticket, 'id', { filter: 'ids' });
    for (const args of [undefined, {}, { data: {} }]) {
      const { id } = await client.ticket.create(args);
      expect(await ids.check(id)).toBe('maybe');
    }
  });

  it('leaves mistaken arguments to Prisma, which names them', async () => {
    const { client } = await start();
    for (const model of [client.kind, client.product])
      await expect(model.update({ where: { name: 'none' } })).rejects.toThrow(
        /Argument `data` is missing|Invalid/,
      );
    await expect(client.product.create()).rejects.toThrow(/Invalid/);
  });

  it('has added the key that a relation names before its row can be seen', async () => {
    const { skus } = await start();
    const runner = context!.get(BloomGuardRunner, { strict: false });
    const of = { filter: 'skus' };
    const recording = extendWithBloom(plain, runner, products, 'kindName' as 'sku', of);
    const seen: string[] = [];
    const client = recording.$extends({
      query: {
        product: {
          async $allOperations({ args, query }: LaterWrite) {
            for (const name of ['known', 'fresh']) seen.push(await skus.check(name));
            return query(args);
          },
        },
      },
    });
    await plain.kind.create({ data: { name: 'known' } });
    await client.product.create({ data: { ...row('of known'), kind: { connect: { name: 'known' } } } });
    const orCreate = { where: { name: 'fresh' }, create: { name: 'fresh' } };
    await client.product.create({ data: { ...row('of fresh'), kind: { connectOrCreate: orCreate } } });
    expect(seen).toEqual(['maybe', 'absent', 'maybe', 'maybe']);
  });

  it('records the ids that an extension which was applied later gave to rows, and says so', async () => {
    const { skus, bySku } = await start();
    const shout = (row: { sku: string }) => ({ ...row, sku: row.sku.toUpperCase() });
    const client = bySku.$extends({
      query: {
        product: {
          $allOperations: ({ args, query }: LaterWrite) => {
            const name = 'create' in args ? 'create' : 'data';
            const rows = args[name] as { sku: string } | { sku: string }[];
            return query({ ...args, [name]: Array.isArray(rows) ? rows.map(shout) : shout(rows) });
          },
        },
      },
    });
    const { product } = client;
    await product.create({ data: row('later 1') });
    await product.createManyAndReturn({ data: [row('later 2')], select: { id: true } });
    await product.update({ where: { sku: 'LATER 1' }, data: { sku: 'later 3' }, omit: { sku: true } });
    await product.updateManyAndReturn({ where: { sku: 'LATER 2' }, data: { sku: 'later 4' } });
    await product.upsert({ where: { sku: 'none' }, create: row('later 5'), update: {} });
    for (const number of [1, 2, 3, 4, 5])
      expect([number, await skus.check(`LATER ${number}`)]).toEqual([number, 'maybe']);
    expect(await plain.product.count({ where: { sku: { startsWith: 'LATER ' } } })).toBe(3);
    const advice = events.filter(({ type }) => type === 'advice') as { text: string }[];
    expect(advice.map(({ text }) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      'BLOOM_OTHER_ID_WRITTEN: Product.create',
      'BLOOM_OTHER_ID_WRITTEN: Product.createManyAndReturn',
      'BLOOM_OTHER_ID_WRITTEN: Product.update',
      'BLOOM_OTHER_ID_WRITTEN: Product.updateManyAndReturn',
    ]);
  });

  it('fails a write whose id a later extension takes out of the result', async () => {
    const { client } = await start();
    const later = client.$extends({
      query: {
        product: {
          create: async ({ args, query }: LaterWrite) => ({ ...(await query(args)), id: undefined }),
        },
      },
    });
    await expect(later.product.create({ data: row('hidden id') })).rejects.toThrow(
      /Product\.id is not known, since an extension that was applied later takes it out of the result\. Instead apply extendWithBloom last/,
    );
  });

  it('names a field that there is not', async () => {
    const { client } = await start();
    const runner = context!.get(BloomGuardRunner, { strict: false });
    expect(() => extendWithBloom(client, runner, products, 'skuu' as 'sku', { filter: 'skus' })).toThrow(
      /extendWithBloom: expected a field of the model Product, got 'skuu'/,
    );
    // @ts-expect-error a Date is no id
    expect(extendWithBloom(client, runner, products, 'madeAt', { filter: 'skus' })).toBeDefined();
  });

  it('refuses a foreign key that the database sets to its default, and a client whose schema is not known', async () => {
    await start();
    const runner = context!.get(BloomGuardRunner, { strict: false });
    const of = { filter: 'skus' };
    expect(() => extendWithBloom(plain as LibraryClient, runner, ({ loan }) => loan, 'branch', of)).toThrow(
      /expected the relation Loan\.place to have other referential actions than SetDefault/,
    );
    const { _engineConfig } = plain as unknown as { _engineConfig: object };
    const unknown = Object.create(plain, {
      _engineConfig: { value: { ..._engineConfig, inlineSchema: '' } },
    });
    expect(() => extendWithBloom(unknown, runner, products, 'sku', { filter: 'skus' })).toThrow(
      /extendWithBloom: expected a client that Prisma 7 has generated/,
    );
  });
});
