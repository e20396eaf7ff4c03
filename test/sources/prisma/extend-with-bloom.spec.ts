import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { BloomGuardRunner, BloomModule, BloomService } from '../../../src/index.js';
import { extendWithBloom, fromPrisma } from '../../../src/sources/prisma/index.js';
import { startContext } from '../../support/nest-app.js';
import { type ShopTables, startShopTables } from '../shop-tables.js';
import { type GeneratedClient, generatedClient } from './generated-client.js';

let shop: ShopTables;
let plain: GeneratedClient;
let context: INestApplicationContext | undefined;

beforeAll(async () => {
  const [tables, Client] = await Promise.all([startShopTables(), generatedClient()]);
  shop = tables;
  plain = new Client({ adapter: new PrismaPg({ connectionString: shop.server.url }) });
}, 60_000);
afterEach(async () => {
  await context?.close();
  context = undefined;
});
afterAll(async () => {
  await plain?.$disconnect();
  await shop?.stop();
});

const products = (client: GeneratedClient) => client.product;
let number = 0;
const row = (sku: string) => ({ sku, no: ++number, shelf: 's', digest: Buffer.from(`digest of ${sku}`) });

/** Filters that were built, and a client that fills them. */
async function start() {
  const filter = (name: string, field: 'id' | 'sku') => ({
    name,
    capacity: 1000,
    errorRate: 1e-6,
    source: fromPrisma(plain, products, field),
    rebuild: { drainMs: 0, onBoot: 'never' as const },
  });
  context = await startContext({
    imports: [
      BloomModule.forRoot({ onEvent: () => {}, filters: [filter('skus', 'sku'), filter('ids', 'id')] }),
    ],
  });
  const runner = context.get(BloomGuardRunner, { strict: false });
  const service = context.get(BloomService);
  const [skus, ids] = [service.filter('skus'), service.filter('ids')];
  for (const one of [skus, ids]) await one.rebuild();
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

  it('names a field that there is not', async () => {
    const { client } = await start();
    const runner = context!.get(BloomGuardRunner, { strict: false });
    expect(() => extendWithBloom(client, runner, products, 'skuu' as 'sku', { filter: 'skus' })).toThrow(
      /extendWithBloom: expected a field of the model Product, got 'skuu'/,
    );
    // @ts-expect-error a Date is no id
    expect(extendWithBloom(client, runner, products, 'madeAt', { filter: 'skus' })).toBeDefined();
  });
});
