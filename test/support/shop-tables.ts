import { expect, it } from '@jest/globals';
import pg from 'pg';
import type { BloomIdSource } from '../../src/rebuild/index.js';
import { eventually } from './eventually.js';
import { type PostgresServer, requirePostgres } from './postgres-server.js';
import { readAll } from './read-source.js';

/** Tables with the keys and types that differ for a source. */
const TABLES = `
create extension citext; create schema shop; create domain shop.number as bigint;
create domain shop.serial_no as shop.number check (value > 0);
create type colour as enum ('red', 'green');
create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
create table kinds (name text primary key, above text references kinds);
create table products (id uuid primary key default gen_random_uuid(), sku text not null unique, no bigint not null unique, code citext,
  shelf char(10) not null, price numeric, label text collate blind, digest bytea not null unique, made_at timestamp,
  kind text references kinds);
create table shop.visits (at timestamptz(6), visit_no int, visitor_key text not null, serial shop.serial_no unique, primary key (at, visit_no));
create table keyless (name text);
create table "Orders" ("no" serial primary key, note text);
create table tickets (id uuid primary key default gen_random_uuid());
create view colours as select (array['red', 'green']::colour[])[1 + no % 2] as colour from products;
create table parents (id text primary key, name text not null);
create table children () inherits (parents);
create table folded (no int primary key, label text collate blind not null, code citext not null);
create unique index on folded (label collate "C");
create unique index on folded (code text_ops);
create table piled (label text collate blind, code citext, price numeric);
create table tenants (no int, name text not null unique);
alter table tenants enable row level security;
create policy own on tenants using (name = current_setting('shop.tenant', true));
create role visitor login bypassrls; create role tenant login;
grant all on all tables in schema public to visitor, tenant`;

const ROWS = `
insert into products (sku, no, code, shelf, price, label, digest)
select case when i % 2 = 0 then 'sku-' else 'SKU_' end || i, 9007199254740993 + i,
       case when i % 3 = 0 then null when i % 2 = 0 then 'code-' || i else 'Code-' || i end, 's' || i % 5, i / 2.0, 'label-' || i,
       decode(md5(i::text), 'hex')
from generate_series(1, 100) i;
insert into shop.visits select '2026-01-01 00:00:00.000001Z'::timestamptz + (i / 3) * interval '1 microsecond', i, 'visitor-' || i % 50, i
from generate_series(1, 100) i;
insert into keyless select nullif('name-' || i % 9, 'name-0') from generate_series(1, 50) i;
insert into folded values (1, 'a', 'a'), (2, 'A', 'A'), (3, 'b', 'b'), (4, 'B', 'B');
insert into piled values ('a', 'a', 1.0), ('A', 'A', 1.00), ('a', 'a', 1.0), ('b', 'B', 10);
insert into tenants values (1, 'one'), (2, 'two'), (null, 'three');
insert into parents select 'p' || i, 'parent-' || i from generate_series(1, 20) i;
insert into children select 'p' || i, 'child-' || i from generate_series(1, 20) i`;

export interface ShopTables {
  readonly server: PostgresServer;
  readonly pool: pg.Pool;
  /** Every value of an expression that is not null, as text. */
  values(expression: string, table: string): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startShopTables(): Promise<ShopTables> {
  const server = await requirePostgres();
  await server.run(`${TABLES};${ROWS}`);
  const pool = new pg.Pool({ connectionString: server.url });
  // The server may stop before the last connection has said goodbye.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return {
    server,
    pool,
    values: async (expression, table) => {
      const { rows } = await pool.query<{ value: string }>(
        `select (${expression})::text as value from ${table} where (${expression}) is not null`,
      );
      return rows.map(({ value }) => value);
    },
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

/** What `table.column` has to read, and which `normalize` is chosen for it. */
export const COLUMNS = [
  ['products.id', 'id', 'uuid'],
  ['products.sku', 'sku', undefined],
  ['products.no', 'no', 'integer'],
  ['products.code', 'code', 'lowerCase'],
  ['products.shelf', 'shelf', 'padded'],
  ['products.price', 'price', undefined],
  ['products.label', 'label', 'lowerCase'],
  ['products.digest', 'digest', undefined],
  ['shop.visits.visitor_key', 'visitor_key', undefined],
  ['shop.visits.serial', 'serial', 'integer'],
] as const;

/** The columns whose type may have several spellings for a value, and no function is known for them. */
const UNKNOWN = ['products.price'];

/** Tests of a source that reads the catalog. `make` takes `table.column`. */
export function readsShopTables(
  tables: () => ShopTables,
  make: (path: string, take: number) => Promise<BloomIdSource>,
): void {
  it.each(COLUMNS)('reads every value of %s', async (path, column, normalize) => {
    const source = await make(path, 7);
    const table = path.slice(0, path.lastIndexOf('.'));
    const expected = await tables().values(column, table);
    expect(texts(await readAll(source))).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(60);
    expect(source.spelling?.name).toBe(normalize);
    expect(source.readsFrom).toBe(`${table.split('.').at(-1)}.${column}`);
    expect(source.spelling !== undefined).toBe(normalize !== undefined || UNKNOWN.includes(path));
  });

  it('takes texts for one that a collation of Postgres takes for equal', async () => {
    const { normalize } = (await make('folded.label', 7)).spelling!;
    expect(await tables().values("label = 'a'", 'folded')).toEqual(['true', 'true', 'false', 'false']);
    expect(['a', 'A'].map(normalize!)).toEqual(['a', 'a']);
  });

  it('reads pages of one row by a key whose dates are finer than those of JavaScript', async () => {
    const read = await readAll(await make('shop.visits.visitor_key', 1));
    expect(texts(read)).toEqual((await tables().values('visitor_key', 'shop.visits')).toSorted());
  });

  it('reads each value once of a table without a key, and of a view', async () => {
    const names = Array.from({ length: 8 }, (_, i) => `name-${i + 1}`);
    expect(await readAll(await make('keyless.name', 3))).toEqual(names);
    expect(await readAll(await make('colours.colour', 1))).toEqual(['green', 'red']);
  });

  it('reads the rows of tables that inherit, whose keys may be those of their parent', async () => {
    expect(texts(await readAll(await make('parents.name', 3)))).toEqual(
      (await tables().values('name', 'parents')).toSorted(),
    );
  });

  it.each([
    ['folded.label', 'whose index compares other texts as equal than the column does'],
    ['folded.code', 'whose index compares with case, unlike the column'],
  ])('reads every value of %s, %s', async (path) => {
    expect(texts(await readAll(await make(path, 1)))).toEqual(['A', 'B', 'a', 'b']);
  });

  it.each([
    ['piled.label', ['A', 'a', 'b']],
    ['piled.code', ['A', 'B', 'a']],
    ['piled.price', ['1.0', '1.00', '10']],
  ])('reads each spelling of a value of %s, which has no key', async (path, expected) => {
    expect(texts(await readAll(await make(path, 1)))).toEqual(expected);
  });

  it('reads every row although its connections end while it reads', async () => {
    const { server, pool } = tables();
    const expected = (await tables().values('sku', 'products')).toSorted();
    const source = await make('products.sku', 30);
    const read: unknown[] = [];
    for await (const page of source.ids({ signal: new AbortController().signal })) {
      read.push(...(page as unknown[]));
      await server.run(`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and backend_type = 'client backend'`);
    }
    expect(texts(read)).toEqual(expected);
    await eventually('all of them are replaced', async () => {
      const answers = await Promise.allSettled(Array.from({ length: 10 }, () => pool.query('select 1')));
      return answers.every(({ status }) => status === 'fulfilled');
    });
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    await expectCounted(tables(), await make('products.sku', 7));
  });

  it('names the columns there are, and the table that there is not', async () => {
    await expect(make('products.skuu', 7)).rejects.toThrow(
      /got 'products\.skuu'\. The columns of "products" are id, sku, no, code/,
    );
    await expect(make('shops.sku', 7)).rejects.toThrow(/There is no table "shops" that this user sees/);
  });
}

/** A source without a column takes the primary key, and what the catalog says of its order. */
export async function takesPrimaryKey(
  make: (table: 'Orders' | 'products' | 'visits' | 'keyless') => Promise<BloomIdSource>,
): Promise<void> {
  const orders = await make('Orders');
  expect([orders.readsFrom, orders.idOrder, orders.spelling?.name]).toEqual([
    'orders.no',
    'integer',
    'integer',
  ]);
  expect(await orders.newest!()).toBeUndefined();
  const products = await make('products');
  expect(products.readsFrom).toBe('products.id');
  expect(products.idOrder).toEqual({ reason: expect.stringContaining('products.id is of type uuid') });
  await expect(make('visits')).rejects.toThrow(/a primary key of one column, got (?:at, )/);
  await expect(make('keyless')).rejects.toThrow(/a primary key of one column, got none/);
}

/** A source of `products` counts a small table itself, and asks the planner about a large one. */
export async function expectCounted({ server }: ShopTables, source: BloomIdSource): Promise<void> {
  expect(await source.count!()).toBe(100);
  await server.run(`insert into products (sku, no, shelf, digest)
    select repeat('long', 50) || i, i, i % 7, decode(md5('x' || i), 'hex') from generate_series(1, 40000) i;
    analyze products; delete from products where no < 9000`);
  const estimate = (await source.count!())!;
  await server.run('delete from products where no < 100000');
  expect(Math.round(estimate / 1000)).toBe(40);
}

/** Tests of policies, as a user for whom they count. `make` takes what it connects to. */
export function respectsPolicies(
  tables: () => ShopTables,
  make: (url: string, options: { seesAllRows?: boolean }) => Promise<BloomIdSource>,
): void {
  it('refuses a table whose policies may hide rows, unless they do not', async () => {
    const as = (user: string) => tables().server.url.replace('test@', `${user}@`);
    await expect(readAll(await make(as('tenant'), {}))).rejects.toThrow(
      'has row-level security for the user of this connection',
    );
    expect(await readAll(await make(as('tenant'), { seesAllRows: true }))).toEqual([]);
    expect(texts(await readAll(await make(as('visitor'), {})))).toEqual(['one', 'three', 'two']);
  });
}

export function texts(ids: readonly unknown[]): string[] {
  return ids
    .map((id) => (id instanceof Uint8Array ? `\\x${Buffer.from(id).toString('hex')}` : String(id)))
    .toSorted();
}
