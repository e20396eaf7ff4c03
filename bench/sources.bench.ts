import { MikroORM, defineEntity, p } from '@mikro-orm/postgresql';
import { PrismaPg } from '@prisma/adapter-pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import knex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';
import { fromDrizzle } from '@nestjs-bloom/drizzle';
import type { BloomSourceFactory } from '../src/sources/index.js';
import { fromKnex } from '@nestjs-bloom/knex';
import { fromKysely } from '@nestjs-bloom/kysely';
import { fromMikroOrm } from '@nestjs-bloom/mikro-orm';
import { fromPrisma } from '@nestjs-bloom/prisma';
import { fromTypeOrm } from '@nestjs-bloom/typeorm';
import { generatedClient } from '../packages/prisma/test/generated-client.js';
import { assert, type Bench, Comparison, rate } from './harness.js';
import { startPostgres } from './postgres-server.js';
import { readByHand, readSource } from './source-reading.js';

const BY_HAND = 'paging by hand';

const Product = defineEntity({
  name: 'Product',
  tableName: 'products',
  properties: { sku: p.text().primary(), name: p.text() },
});
const ProductEntity = new EntitySchema<{ sku: string; name: string }>({
  name: 'products',
  columns: { sku: { type: 'text', primary: true }, name: { type: 'text' } },
});
const products = pgTable('products', { sku: text().primaryKey(), name: text() });

/** One table read by the source of each library, against the same pages of raw rows written by hand. */
export const bench: Bench = async (context) => {
  const { report, pick, skip, cleanUp } = context;
  const count = pick(520_001, 5_201);
  const url = await startPostgres(context);
  if (!url) return skip('sources', 'no Postgres is installed');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const pool = new pg.Pool({ connectionString: url });
  await client.query(`create table products (sku text primary key, name text);
    insert into products select 'sku-' || md5(i::text), 'a product' from generate_series(1, ${count}) i; analyze products`);
  const withKnex = knex({ client: 'pg', connection: url });
  const orm = await MikroORM.init({ clientUrl: url, entities: [Product] });
  const dataSource = await new DataSource({ type: 'postgres', url, entities: [ProductEntity] }).initialize();
  const prisma = new (await generatedClient())({ adapter: new PrismaPg({ connectionString: url }) });
  cleanUp(() =>
    Promise.all([
      client.end(),
      pool.end(),
      withKnex.destroy(),
      orm.close(),
      prisma.$disconnect(),
      dataSource.destroy(),
    ]),
  );
  const factories: Record<string, BloomSourceFactory> = {
    drizzle: fromDrizzle(drizzle({ client: pool }), products.sku),
    kysely: fromKysely(new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) }), 'products.sku'),
    knex: fromKnex(withKnex, 'products', 'sku'),
    'mikro-orm': fromMikroOrm(Product, 'sku', { orm }),
    typeorm: fromTypeOrm(ProductEntity, 'sku', { dataSource }),
    prisma: fromPrisma(prisma, (made) => made.product, 'sku'),
  };
  const contestants = [{ name: BY_HAND, measure: () => rate(count, () => readByHand(client)) }];
  for (const [name, factory] of Object.entries(factories)) {
    const source = await factory.useFactory();
    assert((await readSource(source)) === count, `the source of ${name} to read every row`);
    contestants.push({ name, measure: () => rate(count, () => readSource(source)) });
  }
  const result = await Comparison.run(contestants, pick(9, 1));
  const names = Object.keys(factories);
  result.reportOthers(report, 'rows/s', names);
  for (const ours of names)
    result.expectTimes(report, { ours, metric: 'rows/s', to: BY_HAND, atLeast: 1 / 1.3 });
};
