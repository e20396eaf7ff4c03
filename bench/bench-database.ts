import { PGlite } from '@electric-sql/pglite';
import { eq, sql } from 'drizzle-orm';
import { drizzle as drizzleServer } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { drizzle as drizzleEmbedded } from 'drizzle-orm/pglite';
import pg from 'pg';
import { idTexts } from './ids.js';

const products = pgTable('bloom_bench_products', { id: text().primaryKey(), name: text().notNull() });

export interface BenchDatabase {
  readonly queries: number;
  find(id: string): Promise<object | undefined>;
}

/**
 * A table of the first `count` present ids, asked through Drizzle as the sample shop does: in a Postgres
 * server, or embedded.
 */
export async function openDatabase(count: number, url?: string): Promise<BenchDatabase> {
  const orm = url
    ? drizzleServer({ client: new pg.Pool({ connectionString: url, max: 10 }) })
    : drizzleEmbedded({ client: await PGlite.create() });
  await orm.execute(sql`drop table if exists ${products}`);
  await orm.execute(sql`create table ${products} (id text primary key, name text not null)`);
  const ids = idTexts('prod', count);
  await orm.execute(
    sql`insert into ${products} select id, 'a product' from unnest(${sql.param(ids)}::text[]) as id`,
  );
  let queries = 0;
  return {
    get queries() {
      return queries;
    },
    find: async (id) => {
      queries++;
      const [product] = await orm.select().from(products).where(eq(products.id, id)).limit(1);
      return product;
    },
  };
}
