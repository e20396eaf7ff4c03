import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { BloomId, BloomIdSource, BloomMark } from 'nestjs-bloom';
import { toIdKey } from 'nestjs-bloom/filter';
import { postgresCopy, type PostgresCopyOptions } from '../src/index.js';
import { eventually } from '../../../test/support/eventually.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { withFilledFilter } from '../../../test/support/filled-application.js';
import {
  COLUMNS,
  expectCounted,
  respectsPolicies,
  type ShopTables,
  startShopTables,
  takesPrimaryKey,
  texts,
} from '../../../test/support/shop-tables.js';
import { createScopedTables, readsScopes } from '../../../test/support/scoped-tables.js';

let shop: ShopTables;
const opened: pg.Pool[] = [];

beforeAll(async () => {
  shop = await startShopTables();
});
afterAll(async () => {
  await Promise.all(opened.map((pool) => pool.end()));
  await shop?.stop();
});

function poolOf(options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: shop.server.url, max: 1, ...options });
  // The server may stop before the last connection has said goodbye.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  opened.push(pool);
  return pool;
}

function make(path: string, options: Partial<PostgresCopyOptions> = {}) {
  const dot = path.lastIndexOf('.');
  const [table, column] = [path.slice(0, dot), path.slice(dot + 1)];
  return madeBy(postgresCopy({ pool: shop.pool, table, column, ...options }));
}

/** What lookups of each id of the source are hashed by. */
async function keys(ids: readonly BloomId[], normalize?: (id: BloomId) => BloomId): Promise<string[]> {
  return ids
    .map((id) => toIdKey(normalize ? normalize(id) : id))
    .map((key) => Buffer.from(key).toString('latin1'))
    .toSorted();
}

describe('postgresCopy', () => {
  it('reads the ids of each tenant in its scope', async () => {
    await createScopedTables(shop.server);
    const of = (table: string, column: string, scope: string) =>
      madeBy(postgresCopy({ pool: shop.pool, table, column, scope }));
    await readsScopes(of, shop.pool);
    // The filter refuses an id with an empty scope, so that no row is left out.
    expect((await readAll(await of('strays', 'id', 'tenant'))).toSorted()[0]).toBe('0::2');
    expect(texts(await readAll(await of('heaps', 'sku', 'tenant')))).toEqual(['1:a:x', '1:b:x']);
    await expect(of('products', 'digest', 'sku')).rejects.toThrow('products.digest of type bytea');
  });

  it.each(COLUMNS)('reads every value of %s', async (path, column, normalize) => {
    const source = await make(path);
    const expected = await shop.values(column, path.slice(0, path.lastIndexOf('.')));
    expect(texts(await readAll(source))).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(60);
    expect(source.spelling?.name).toBe(normalize);
    expect(source.readsFrom).toBe(path.split('.').slice(-2).join('.'));
  });

  it('takes the primary key where no column is named', async () => {
    await takesPrimaryKey(async (table) =>
      madeBy(postgresCopy({ pool: shop.pool, table: table === 'visits' ? 'shop.visits' : table })),
    );
  });

  it('reads the values that lookups are hashed by, whatever their type', async () => {
    await shop.server
      .run(`create table kinds_of_ids (s smallint, i int, b bigint, u uuid, t text, v varchar(40), c char(8), n numeric, e colour, y bytea);
      insert into kinds_of_ids values
      (-32768, -2147483648, -9223372036854775808, '00000000-0000-0000-0000-000000000000', 'ä€😀', 'x', 'ab', 1.50, 'red', '\\x00ff'),
      (32767, 2147483647, 9223372036854775807, 'ffffffff-ffff-ffff-ffff-ffffffffffff', ' a ', 'ß', 'ä', -0.1, 'green', '\\x61'),
      (0, 0, 0, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'null', '\\N', 'a b', 0, 'red', '\\x0a'),
      (7, 10, 9007199254740991, gen_random_uuid(), E'a\\nb', '1', '1', 12345678901234567890, 'green', '\\xc3a4'),
      (9999, 10000, 9007199254740993, gen_random_uuid(), repeat('x', 300), '2', '2', 10000, 'red', '\\x00'),
      (-1, 99999999, 100000000, gen_random_uuid(), 'z', '3', '3', 3, 'red', '\\x31'),
      (100, 123456789, -9007199254740993, gen_random_uuid(), 'y', '4', '4', 4, 'red', '\\x32'),
      (null, null, null, null, null, null, null, null, null, null)`);
    for (const column of ['s', 'i', 'b', 'u', 't', 'v', 'c', 'n', 'e', 'y']) {
      const source = await make(`kinds_of_ids.${column}`);
      const { rows } = await shop.pool.query<{ id: BloomId }>(
        `select ${column}${column === 'y' ? '' : '::text'} as id from kinds_of_ids where ${column} is not null`,
      );
      const expected = await keys(
        rows.map(({ id }) => id),
        source.spelling?.normalize,
      );
      expect(await keys(await readAll(source))).toEqual(expected);
      expect(expected).toHaveLength(7);
    }
  });

  it('refuses a type whose values applications spell in several ways', async () => {
    await shop.server.run(
      'create table others (at timestamptz, parts text[], doc jsonb, yes boolean, f float8)',
    );
    for (const column of ['at', 'parts', 'doc', 'yes', 'f'])
      await expect(make(`others.${column}`)).rejects.toThrow(`postgresCopy: others.${column} is of type`);
  });

  it('reads views, partitions, and the rows of tables that inherit', async () => {
    await shop.server.run(`create table parted (id int) partition by range (id);
      create table parted_1 partition of parted for values from (0) to (5); create table parted_2 partition of parted for values from (5) to (10);
      insert into parted select generate_series(0, 9); create view doubled as select id * 2 as id from parted`);
    const numbers = (count: number, times = 1) => Array.from({ length: count }, (_, i) => `${i * times}`);
    expect(texts(await readAll(await make('parted.id')))).toEqual(numbers(10).toSorted());
    expect(texts(await readAll(await make('doubled.id')))).toEqual(numbers(10, 2).toSorted());
    expect(texts(await readAll(await make('parents.name')))).toEqual(
      (await shop.values('name', 'parents')).toSorted(),
    );
  });

  it('quotes names, and takes a name with a dot where the schema is given', async () => {
    await shop.server.run(`create schema "My ""Schema"; create table "My ""Schema"."a.b;'x" ("select""" text);
      insert into "My ""Schema"."a.b;'x" values ('one'), ('two')`);
    const source = await madeBy(
      postgresCopy({ pool: shop.pool, schema: 'My "Schema', table: `a.b;'x`, column: 'select"' }),
    );
    expect(texts(await readAll(source))).toEqual(['one', 'two']);
    expect(await source.count!()).toBe(2);
  });

  it('names the columns there are, and the table that there is not', async () => {
    await expect(make('products.skuu')).rejects.toThrow(/got 'skuu'\. Its columns are id, sku, no, code/);
    await expect(make('shops.sku')).rejects.toThrow(
      /got "shops"\. There is no such table that this user sees/,
    );
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    await expectCounted(shop, await make('products.sku'));
  });

  respectsPolicies(
    () => shop,
    (url, options) => make('tenants.name', { pool: poolOf({ connectionString: url }), ...options }),
  );

  it('reads what is committed now, whatever the pool has as its defaults', async () => {
    await shop.server.run('create table late (id int); insert into late values (1)');
    const pool = poolOf({
      options: '-c default_transaction_isolation=serializable -c client_encoding=LATIN1 -c DateStyle=German',
    });
    const source = await make('late.id', { pool });
    expect(await readAll(source)).toEqual(['1']);
    await shop.server.run('insert into late values (2)');
    expect(texts(await readAll(source))).toEqual(['1', '2']);
  });

  it('reads a column by the type that it had at start', async () => {
    await shop.server.run('create table changing (id int); insert into changing values (1), (22)');
    const source = await make('changing.id');
    await shop.server.run('alter table changing alter id type text');
    expect(texts(await readAll(source))).toEqual(['1', '22']);
    await shop.server.run(`insert into changing values ('no number')`);
    await expect(readAll(source)).rejects.toThrow('invalid input syntax for type bigint');
  });

  it('cuts off what is too long for an id', async () => {
    await shop.server.run(
      `create table large (t text, y bytea); insert into large values (repeat('x', 50000000), decode(repeat('00', 1000000), 'hex'))`,
    );
    const [text] = await readAll(await make('large.t'));
    const [bytes] = await readAll(await make('large.y'));
    expect([(text as string).length, (bytes as Uint8Array).length]).toEqual([65_537, 65_537]);
  });

  it('fills a filter whose lookups find every spelling', async () => {
    await withFilledFilter(
      postgresCopy({ pool: 'POOL', table: 'products', column: 'id' }),
      { provide: 'POOL', useValue: shop.pool },
      async (filter) => {
        const ids = await shop.values('id', 'products');
        expect(await filter.mightContainMany(ids)).toEqual(ids.map(() => true));
        expect(await filter.mightContainMany(ids.map((id) => id.toUpperCase()))).toEqual(ids.map(() => true));
      },
    );
  });

  it.each([
    [{ table: '' }, 'expected table to be a name'],
    [{ table: 'a.b.c' }, 'expected table to be a name, or a schema and a name'],
    [{ table: '.products' }, 'expected table to be a name, or a schema and a name'],
    [{ schema: '' }, 'expected schema to be a name'],
    [{ column: '' }, 'expected column to be a name'],
    [{ column: 'a\0b' }, 'expected column to be a name'],
    [{ type: '' }, 'expected type to be a name'],
    [{ pool: {} }, 'expected pool to be a Pool of pg'],
    [{ pool: undefined }, 'expected pool to be a Pool of pg'],
    [{ seesAllRows: 'yes' }, 'expected seesAllRows to be true or false'],
    [{ take: 5 }, 'there is no option take'],
  ])('refuses %p', (options, message) => {
    const all = { pool: 'POOL', table: 'products', column: 'sku', ...options };
    expect(() => postgresCopy(all as unknown as PostgresCopyOptions)).toThrow(message);
  });

  it('refuses clients that cannot be read beneath their queries', async () => {
    const pool = {
      query: async () => ({ rows: [{ columns: '[{"name":"sku","type":"text","isUnique":true}]' }] }),
      connect: async () => ({
        on() {},
        removeListener() {},
        release() {},
        query: async () => ({ rows: [] }),
      }),
    };
    const source = await make('products.sku', { pool: pool as unknown as PostgresCopyOptions['pool'] });
    await expect(readAll(source)).rejects.toThrow('The native bindings of pg cannot be read by it');
  });

  it('leaves nothing in use when the pool is used again', async () => {
    const pool = poolOf();
    const source = await make('products.sku', { pool });
    for (let round = 0; round < 3; round++) expect(await readAll(source)).toHaveLength(100);
    await eventually('the client is idle', () => pool.idleCount === 1 && pool.totalCount === 1);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('postgresCopy with the option order', () => {
  it('gives what is new by the order of the ids, and by another column', async () => {
    await shop.server
      .run(`create table ordered (id bigserial primary key, "Made At" timestamptz unique, sku text);
      insert into ordered (id, "Made At", sku) select 9007199254740990 + i, '2026-01-01Z'::timestamptz + i * interval '1 microsecond', 'sku-' || i from generate_series(1, 5) i`);
    const read = async (source: BloomIdSource, mark: BloomMark) => {
      const found: unknown[] = [];
      for await (const batch of source.idsSince!(mark, { signal: new AbortController().signal }))
        found.push(batch);
      return found;
    };
    const byId = await make('ordered.id', { order: 'id' });
    expect(await read(byId, 9007199254740993n)).toEqual([[9007199254740994n, 9007199254740995n]]);
    expect(await byId.newest!()).toBe(9007199254740995n);
    const byTime = await make('ordered.sku', { order: 'Made At', type: 'text' });
    expect(await read(byTime, '2026-01-01T00:00:00.000003Z')).toEqual([
      { ids: ['sku-4', 'sku-5'], mark: '2026-01-01T00:00:00.000005Z' },
    ]);
    expect(await byTime.newest!()).toBe('2026-01-01T00:00:00.000005Z');
    expect(await readAll(byTime)).toHaveLength(5);
    expect((await make('ordered.sku')).idsSince).toBeUndefined();
  });

  it('refuses a column that is not there, has no order, or is no name', async () => {
    await expect(make('ordered.id', { order: 'nothing' })).rejects.toThrow('a column of a table');
    expect(() => make('ordered.id', { order: '' })).toThrow('expected order to be a name');
    await expect(make('ordered.id', { order: 'sku' })).resolves.toBeDefined();
  });
});
