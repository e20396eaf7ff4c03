import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { scopedId } from 'nestjs-bloom';
import { fromPrisma } from '../src/index.js';
import { kindOf, modelBlock, primaryKeyOf } from '../src/schema-text.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { expectCounted, type ShopTables, startShopTables, texts } from '../../../test/support/shop-tables.js';
import { type GeneratedClient, generatedClient } from './generated-client.js';

let shop: ShopTables;
let prisma: GeneratedClient;
let Client: Awaited<ReturnType<typeof generatedClient>>;

beforeAll(async () => {
  [shop, Client] = await Promise.all([startShopTables(), generatedClient()]);
  prisma = new Client({ adapter: new PrismaPg({ connectionString: shop.server.url }) });
});
afterAll(async () => {
  await prisma?.$disconnect();
  await shop?.stop();
});

const products = (client: GeneratedClient) => client.product;
const visits = (client: GeneratedClient) => client.visit;

describe('fromPrisma', () => {
  it.each([
    ['id', 'uuid'],
    ['sku', undefined],
    ['no', 'integer'],
    ['code', 'lowerCase'],
    ['shelf', 'padded'],
    ['label', 'lowerCase'],
    ['digest', undefined],
  ] as const)('reads every value of products.%s', async (field, normalize) => {
    const source = await madeBy(fromPrisma(prisma, products, field, { take: 7 }));
    const expected = (await shop.values(field, 'products')).toSorted();
    expect(texts(await readAll(source))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(60);
    expect(source.spelling?.name).toBe(normalize);
  });

  it('reads the ids of each tenant in its scope', async () => {
    const source = await madeBy(fromPrisma(prisma, products, 'sku', { scope: 'no', take: 7 }));
    const { rows } = await shop.pool.query<{ no: string; sku: string }>('select no::text, sku from products');
    expect(texts(await readAll(source))).toEqual(texts(rows.map(({ no, sku }) => scopedId(no, sku))));
    expect([source.scoped, source.idOrder]).toEqual([true, undefined]);
  });

  it('takes the primary key where no field is named', async () => {
    const source = await madeBy(fromPrisma(prisma, products, { take: 7 }));
    expect(source.readsFrom).toBe('products.id');
    expect(source.idOrder).toEqual({ reason: expect.stringContaining('products.id is of type uuid') });
    await expect(madeBy(fromPrisma(prisma, visits))).rejects.toThrow('got at, no');
  });

  it('reads in the schema which field is the key, and how Prisma makes it', () => {
    const block = (lines: string) =>
      modelBlock(`// model A { x Int @id }\nmodel Ab { z Int @id }\nmodel A {\n${lines}\n}`, 'A')!;
    expect(primaryKeyOf(block('  a Int\n  bc Int @db.Integer @id @map("@id")'))).toEqual(['bc']);
    expect(primaryKeyOf(block('  a Int\n  b Int\n  @@id(fields: [a, b])'))).toEqual(['a', 'b']);
    expect(primaryKeyOf(block('  a Int @unique // @id'))).toEqual([]);
    const kinds = [
      'a String @id @default(uuid(7))',
      'a String @id @default( uuid( 7 ) ) @db.Uuid',
      'a String @id @default(ulid()) @db.VarChar(26)',
      'a String @id @default(uuid())',
      'a String @id @default(uuid(4))',
      'a String @id @default(cuid())',
      'a String @id @default(ulid()) @db.Char(26)',
      'ab String @default(ulid())\n a String @id',
    ].map((line) => kindOf(block(line), 'a'));
    expect(kinds).toEqual(['uuidv7', 'uuidv7', 'ulid', ...Array<undefined>(5).fill(undefined)]);
  });

  it('reads a mapped field of another schema, by a key whose dates are finer than those of JavaScript', async () => {
    const source = await madeBy(fromPrisma(prisma, visits, 'visitor', { take: 1 }));
    expect(source.readsFrom).toBe('visits.visitor_key');
    expect(texts(await readAll(source))).toEqual(
      (await shop.values('visitor_key', 'shop.visits')).toSorted(),
    );
  });

  it('reads the schema that is given', async () => {
    await shop.server.run(
      `create schema other; create table other.gone (id text primary key); insert into other.gone values ('here')`,
    );
    const gone = (client: GeneratedClient) => client.gone;
    await expect(madeBy(fromPrisma(prisma, gone, 'id'))).rejects.toThrow(
      /There is no table "public"\."gone"/,
    );
    expect(await readAll(await madeBy(fromPrisma(prisma, gone, 'id', { schema: 'other' })))).toEqual([
      'here',
    ]);
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    await expectCounted(shop, await madeBy(fromPrisma(prisma, products, 'sku')));
  });

  it('reads through a client that is extended', async () => {
    const extended = prisma.$extends({ name: 'logs', query: { $allModels: {} } });
    expect(await readAll(await madeBy(fromPrisma(extended, products, 'sku')))).toHaveLength(100);
  });

  it('names the fields there are, and what it takes for a client', async () => {
    await expect(madeBy(fromPrisma(prisma, products, 'skuu' as 'sku'))).rejects.toThrow(
      "expected a field of the model Product, got 'skuu'. Its fields are id, sku, no, code",
    );
    const mistaken = (client: GeneratedClient) =>
      (client as unknown as { products: GeneratedClient['product'] }).products;
    await expect(madeBy(fromPrisma(prisma, mistaken, 'sku'))).rejects.toThrow(
      'a function that returns one of its models such as (prisma) => prisma.product',
    );
  });

  it('takes the class of a client, and no field that cannot be an id', () => {
    abstract class PrismaService implements GeneratedClient {
      declare readonly product: GeneratedClient['product'];
      declare readonly visit: GeneratedClient['visit'];
      declare readonly kind: GeneratedClient['kind'];
      declare readonly ticket: GeneratedClient['ticket'];
      declare readonly gone: GeneratedClient['gone'];
      abstract $queryRawUnsafe: GeneratedClient['$queryRawUnsafe'];
      abstract $on: GeneratedClient['$on'];
      abstract $extends: GeneratedClient['$extends'];
      abstract $transaction: GeneratedClient['$transaction'];
      abstract $disconnect: GeneratedClient['$disconnect'];
    }
    expect(fromPrisma(PrismaService, (p) => p.product, 'sku').inject).toEqual([PrismaService]);
    expect(fromPrisma('PRISMA', products, 'sku').inject).toEqual(['PRISMA']);
    // @ts-expect-error there is no such field
    expect(fromPrisma(PrismaService, (p) => p.product, 'skuu')).toBeDefined();
    // @ts-expect-error a Date is no id
    expect(fromPrisma(PrismaService, (p) => p.product, 'madeAt')).toBeDefined();
  });
});
