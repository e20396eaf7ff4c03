import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eq } from 'drizzle-orm';
import { Cache } from 'drizzle-orm/cache/core';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import {
  bigint,
  char,
  customType,
  integer,
  numeric,
  pgSchema,
  pgTable,
  pgView,
  primaryKey,
  serial,
  text,
  timestamp,
  uuid,
  withReplicas,
} from 'drizzle-orm/pg-core';
import pg from 'pg';
import { fromDrizzle } from '../src/index.js';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { takesPrimaryKey } from '../../../test/support/shop-tables.js';

const citext = customType<{ data: string }>({ dataType: () => 'citext' });
/** As a library makes a shorter text of an id. */
const shortNo = customType<{ data: string; driverData: string }>({
  dataType: () => 'bigint',
  fromDriver: (stored) => `no-${BigInt(stored).toString(36)}`,
});
const products = pgTable('products', {
  id: uuid().primaryKey().defaultRandom(),
  sku: text().notNull().unique(),
  no: bigint({ mode: 'bigint' }).notNull().unique(),
  code: citext(),
  shelf: char({ length: 10 }).notNull(),
  madeAt: timestamp(),
});
const visits = pgSchema('shop').table(
  'visits',
  {
    at: timestamp({ withTimezone: true, precision: 6 }).notNull(),
    no: integer('visit_no').notNull(),
    visitor: text('visitor_key').notNull(),
  },
  (table) => [primaryKey({ columns: [table.at, table.no] })],
);
const keyless = pgTable('keyless', { name: text() });
const cases = pgTable('cases', {
  caseNo: text().primaryKey(),
  itsPrice: numeric({ mode: 'number' }).unique(),
});
const loose = pgTable('loose', { kind: text().primaryKey(), label: text() });
const visited = pgView('visited').as((query) =>
  query
    .select({ no: products.no, visitor: visits.visitor })
    .from(products)
    .innerJoin(visits, eq(visits.no, 1)),
);

/** Answers every query with what it has seen first. */
class StaleCache extends Cache {
  private readonly results = new Map<string, unknown[]>();
  override strategy(): 'all' {
    return 'all';
  }
  override async get(key: string): Promise<unknown[] | undefined> {
    return this.results.get(key);
  }
  override async put(key: string, response: unknown[]): Promise<void> {
    this.results.set(key, response);
  }
  override async onMutate(): Promise<void> {}
}

const TAKE = 7;
let server: PostgresServer;
let pool: pg.Pool;
let database: NodePgDatabase;

beforeAll(async () => {
  server = await requirePostgres();
  await server.run(`
    create extension citext; create schema shop;
    create table products (id uuid primary key default gen_random_uuid(), sku text not null unique, no bigint not null unique, code citext,
      shelf char(10) not null, "madeAt" timestamp);
    create table shop.visits (at timestamptz(6), visit_no int, visitor_key text not null, primary key (at, visit_no));
    create table keyless (name text);
    create table "Orders" (no serial primary key, note text);
    create table cases (case_no text primary key, its_price numeric unique);
    create table loose as select 'kind-' || i % 3 as kind, 'label-' || i as label from generate_series(1, 20) i;
    create role tenant login; grant select on cases to tenant;
    alter table cases enable row level security; create policy everything on cases using (true);
    insert into cases values ('a', 1), ('b', 2.0), ('c', 3.00);
    insert into products (sku, no, code, shelf)
    select case when i % 2 = 0 then 'sku-' else 'SKU_' end || i, 9007199254740993 + i,
           case when i % 3 = 0 then null when i % 2 = 0 then 'code-' || i else 'Code-' || i end, 's' || i % 5
    from generate_series(1, 100) i;
    insert into shop.visits select '2026-01-01 00:00:00.000001Z'::timestamptz + (i / 3) * interval '1 microsecond', i, 'visitor-' || i % 50
    from generate_series(1, 100) i;
    insert into keyless select nullif('name-' || i % 9, 'name-0') from generate_series(1, 50) i`);
  pool = new pg.Pool({ connectionString: server.url });
  // The server may stop before the last connection has said goodbye.
  pool.on('error', () => {});
  database = drizzle({ client: pool });
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

async function values(expression: string, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ value: string }>(
    `select (${expression})::text as value from ${table} where ${expression} is not null`,
  );
  return rows.map(({ value }) => value);
}

const texts = (ids: Iterable<unknown>) => Array.from(ids, String).toSorted();

describe('fromDrizzle', () => {
  it.each([
    ['id', products.id, 'uuid'],
    ['sku', products.sku, undefined],
    ['no', products.no, 'integer'],
    ['code', products.code, 'lowerCase'],
    ['shelf', products.shelf, 'padded'],
  ] as const)('reads every value of products.%s', async (name, column, normalize) => {
    const source = await madeBy(fromDrizzle(database, column as typeof products.sku, { take: TAKE }));
    expect(texts(await readAll(source))).toEqual(texts(await values(name, 'products')));
    expect(source.spelling?.name).toBe(normalize);
  });

  it('takes the primary key where a table is given', async () => {
    const orders = pgTable('Orders', { no: serial().primaryKey(), note: text() });
    const tables = { Orders: orders, products, visits, keyless };
    await takesPrimaryKey(async (table) => madeBy(fromDrizzle(database, tables[table])));
  });

  it('follows a composite primary key whose dates are finer than those of JavaScript', async () => {
    const source = await madeBy(fromDrizzle(database, visits.visitor, { take: 2 }));
    expect(source.readsFrom).toBe('visits.visitor_key');
    expect(texts(await readAll(source))).toEqual(texts(await values('visitor_key', 'shop.visits')));
  });

  it('reads each value once of a table without a key', async () => {
    const source = await madeBy(fromDrizzle(database, keyless.name, { take: 3 }));
    expect(await readAll(source)).toEqual(Array.from({ length: 8 }, (_, i) => `name-${i + 1}`));
  });

  it('reads every row of a table without the key that its definition names', async () => {
    const source = await madeBy(fromDrizzle(database, loose.label, { take: 2 }));
    expect(texts(await readAll(source))).toEqual(texts(await values('label', 'loose')));
  });

  it('reads what a custom type makes of the stored value, and takes it for no type of the database', async () => {
    const shortened = pgTable('products', { no: shortNo().primaryKey() });
    const source = await madeBy(fromDrizzle(database, shortened.no, { take: TAKE }));
    const expected = (await values('no', 'products')).map((no) => `no-${BigInt(no).toString(36)}`);
    expect(texts(await readAll(source))).toEqual(expected.toSorted());
    expect(source.spelling).toEqual({ column: 'products.no has a type of the application' });
  });

  it('reads numbers as the application has them', async () => {
    const source = await madeBy(
      fromDrizzle(drizzle({ client: pool, casing: 'snake_case' }), cases.itsPrice, { take: 2 }),
    );
    expect(await readAll(source)).toEqual([1, 2, 3]);
  });

  it('names columns by the casing of the database', async () => {
    const source = await madeBy(
      fromDrizzle(drizzle({ client: pool, casing: 'snake_case' }), cases.caseNo, { take: 2 }),
    );
    expect(await readAll(source)).toEqual(['a', 'b', 'c']);
  });

  it('reads past the cache of the query builder', async () => {
    const cached = drizzle({ client: pool, cache: new StaleCache() });
    const names = () => cached.select({ name: keyless.name }).from(keyless);
    const source = await madeBy(fromDrizzle(cached, keyless.name));
    const before = [(await names()).length, (await readAll(source)).length];
    await server.run(`insert into keyless values ('late')`);
    const after = [(await names()).length, (await readAll(source)).length];
    await server.run(`delete from keyless where name = 'late'`);
    expect([before, after]).toEqual([
      [50, 8],
      [50, 9],
    ]);
  });

  it('reads the primary of a database with replicas', async () => {
    const elsewhere = drizzle({
      client: new pg.Pool({ connectionString: 'postgres://test@127.0.0.1:1/none' }),
    });
    const source = await madeBy(
      fromDrizzle(withReplicas(database, [elsewhere]), keyless.name, { retries: 0 }),
    );
    expect(await readAll(source)).toHaveLength(8);
  });

  it('refuses a view, whose columns have the keys of its tables, which several of its rows may share', async () => {
    await expect(madeBy(fromDrizzle(database, visited.visitor))).rejects.toThrow(
      "fromDrizzle: expected a column of a table, got 'visitor_key' of a view or an alias.",
    );
  });

  it('refuses a table whose policies may hide rows, unless they do not', async () => {
    const tenant = drizzle({
      client: new pg.Pool({ connectionString: server.url.replace('test@', 'tenant@'), max: 1 }),
    });
    await expect(readAll(await madeBy(fromDrizzle(tenant, cases.caseNo)))).rejects.toThrow(
      'The table "cases" has row-level security for the user of this connection',
    );
    const all = drizzle({ client: tenant.$client, casing: 'snake_case' });
    expect(await readAll(await madeBy(fromDrizzle(all, cases.caseNo, { seesAllRows: true })))).toEqual([
      'a',
      'b',
      'c',
    ]);
    await tenant.$client.end();
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    const source = await madeBy(fromDrizzle(database, products.sku));
    expect(await source.count!()).toBe(100);
    await server.run(`insert into products (sku, no, shelf) select repeat('long', 50) || i, i, i % 7 from generate_series(1, 40000) i;
      analyze products; delete from products where no < 9000`);
    expect(Math.round((await source.count!())! / 1000)).toBe(40);
  });

  it('takes the token of a database, and no column that cannot be an id', () => {
    expect(fromDrizzle('DATABASE', products.sku).inject).toEqual(['DATABASE']);
    // @ts-expect-error a Date is no id
    expect(fromDrizzle('DATABASE', products.madeAt)).toBeDefined();
  });
});
