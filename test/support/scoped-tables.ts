import { expect } from '@jest/globals';
import { type BloomId, type BloomIdSource, scopedId } from 'nestjs-bloom';
import { normalizeScoped } from '../../src/filter/index.js';
import { readAll } from './read-source.js';
import type { PostgresServer } from './postgres-server.js';
import { texts } from './shop-tables.js';

/** Tenants whose SKUs are equal, or would be if scope and id were only joined. */
const TABLES = `
create table contracts (tenant text not null, sku text not null, no int, primary key (tenant, sku));
insert into contracts select tenant, sku, i from unnest(array['a', 'a:b', 'Zoë', '日本', '4:acme:7']) tenant,
  lateral (select 'sku-' || i as sku, i from generate_series(1, 20) i union all select 'b:c', 0 union all select 'c', 0) skus;
create table deeds (id uuid primary key default gen_random_uuid(), tenant bigint not null);
insert into deeds (tenant) select 9007199254740993 + i % 3 from generate_series(1, 50) i;
create table strays (id int primary key, tenant uuid);
insert into strays values (1, gen_random_uuid()), (2, null);
create table heaps (tenant text, sku text);
insert into heaps values ('a', 'x'), ('b', 'x')`;

type Make = (table: string, column: string, scope: string) => Promise<BloomIdSource>;

export async function createScopedTables({ run }: PostgresServer): Promise<void> {
  await run(TABLES);
}

/** Reads the pairs of a table as they are in the database. */
export interface ScopedRows {
  query(sql: string): Promise<{ rows: { tenant: string; id: BloomId }[] }>;
}

/**
 * A source with the option scope reads each row of each tenant as `scopedId` writes it, and no row without a
 * tenant.
 */
export async function readsScopes(make: Make, rows: ScopedRows): Promise<void> {
  for (const [table, column] of [
    ['contracts', 'sku'],
    ['deeds', 'id'],
  ] as const) {
    const source = await make(table, column, 'tenant');
    const pairs = await rows.query(`select tenant::text as tenant, ${column}::text as id from ${table}`);
    const expected = pairs.rows.map(({ tenant, id }) => scopedId(tenant, id));
    // A database that makes the keys itself leaves scopes as they are.
    const ids = (await readAll(source)).map(normalizeScoped(table, undefined));
    expect(texts(ids)).toEqual(texts(expected));
    expect([source.scoped, source.idOrder, source.idsSince]).toEqual([true, undefined, undefined]);
    expect(await source.count!()).toBe(expected.length);
  }
}
