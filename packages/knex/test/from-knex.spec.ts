import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import knex, { type Knex } from 'knex';
import { fromKnex } from '../src/index.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import {
  readsShopTables,
  respectsPolicies,
  type ShopTables,
  startShopTables,
  takesPrimaryKey,
  texts,
} from '../../../test/support/shop-tables.js';
import { createScopedTables, readsScopes } from '../../../test/support/scoped-tables.js';

interface Product {
  id: string;
  sku: string;
  madeAt: Date | null;
}

let shop: ShopTables;
let database: Knex;
const opened: Knex[] = [];

beforeAll(async () => {
  shop = await startShopTables();
  const log = { warn: () => {}, error: () => {} };
  database = knex({ client: 'pg', connection: shop.server.url, pool: { min: 0 }, log });
});
afterAll(async () => {
  await Promise.all([database, ...opened].map((one) => one?.destroy()));
  await shop?.stop();
});

function make(path: string, take: number, made = database) {
  const dot = path.lastIndexOf('.');
  return madeBy(fromKnex(made, path.slice(0, dot), path.slice(dot + 1), { take }));
}

describe('fromKnex', () => {
  readsShopTables(() => shop, make);
  respectsPolicies(
    () => shop,
    async (url, options) => {
      const as = knex({ client: 'pg', connection: url, pool: { min: 0 } });
      opened.push(as);
      return madeBy(fromKnex(as, 'tenants', 'name', options));
    },
  );

  it('takes the primary key where no column is named', async () => {
    await takesPrimaryKey(async (table) =>
      madeBy(fromKnex(database, table === 'visits' ? 'shop.visits' : table)),
    );
  });

  it('reads the ids of each tenant in its scope', async () => {
    await createScopedTables(shop.server);
    const of = (table: string, column: string, scope: string) =>
      madeBy(fromKnex(database, table, column, { scope, take: 3 }));
    await readsScopes(of, shop.pool);
    await expect(readAll(await of('strays', 'id', 'tenant'))).rejects.toThrow('Expected a scope');
    await expect(readAll(await of('heaps', 'sku', 'tenant'))).rejects.toThrow(
      'expected the option key for heaps.sku',
    );
  });

  it('takes names as Knex writes them', async () => {
    const snake = knex({
      client: 'pg',
      connection: shop.server.url,
      pool: { min: 0 },
      wrapIdentifier: (name, wrap) => wrap(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
    });
    const source = await make('shop.visits.visitorKey', 3, snake);
    expect(texts(await readAll(source))).toEqual(
      (await shop.values('visitor_key', 'shop.visits')).toSorted(),
    );
    await snake.destroy();
  });

  it('reads a table and a column with a question mark in their names', async () => {
    await shop.server.run(
      `create table "why?" ("who?" text primary key); insert into "why?" values ('a'), ('b'), ('c')`,
    );
    expect(await readAll(await make('why?.who?', 2))).toEqual(['a', 'b', 'c']);
  });

  it('reads every row of a table that has lost its key since the start', async () => {
    await shop.server.run(
      `create table kept (no int primary key, name text); insert into kept select i, 'kept-' || i from generate_series(1, 9) i`,
    );
    const source = await make('kept.name', 2);
    await shop.server.run(`alter table kept drop constraint kept_pkey; update kept set no = no % 2`);
    expect(texts(await readAll(source))).toEqual((await shop.values('name', 'kept')).toSorted());
  });

  it('takes the token of a Knex, and no column that cannot be an id', () => {
    expect(fromKnex<Product>('KNEX', 'products', 'sku').inject).toEqual(['KNEX']);
    expect(fromKnex('KNEX', 'products', 'anything').inject).toEqual(['KNEX']);
    // @ts-expect-error there is no such column
    expect(fromKnex<Product>('KNEX', 'products', 'skuu')).toBeDefined();
    // @ts-expect-error a Date is no id
    expect(fromKnex<Product>('KNEX', 'products', 'madeAt')).toBeDefined();
  });
});
