import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { type BloomIdSource, type BloomMark, scopedId } from 'nestjs-bloom';
import { fromTypeOrm, type TypeOrmSourceOptions } from '../src/index.js';
import { withFilledFilter } from '../../../test/support/filled-application.js';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { Film, Loose, Mark, Medium, Order, Product, Shelf, Visit } from './entities.js';

const TAKE = 7;
let server: PostgresServer;
let dataSource: DataSource;

beforeAll(async () => {
  server = await requirePostgres();
  await server.run('create extension citext; create schema shop');
  dataSource = await new DataSource({
    type: 'postgres',
    url: server.url,
    entities: [Product, Order, Visit, Medium, Film, Shelf, Mark, Loose],
    synchronize: true,
    cache: { type: 'database', alwaysEnabled: true, duration: 60_000 },
  }).initialize();
  await server.run(`
    insert into products (sku, no, code, shelf, price, label, "deletedAt")
    select case when i % 2 = 0 then 'sku-' else 'SKU_' end || i, 9007199254740993 + i,
           case when i % 3 = 0 then null when i % 2 = 0 then 'code-' || i else 'Code-' || i end,
           's' || i % 5, i / 2.0, case when i > 3 then i::text end, case when i % 4 = 0 then now() end
    from generate_series(1, 100) i;
    insert into shop.visits select '2026-01-01 00:00:00.000001Z'::timestamptz + (i / 3) * interval '1 microsecond', i, 'visitor-' || i % 50
    from generate_series(1, 100) i;
    insert into orders default values; insert into orders default values; insert into orders default values;
    insert into media (id, kind) select 'm' || i, case when i % 2 = 0 then 'Film' else 'Medium' end from generate_series(1, 30) i;
    create table loose as select 'kind-' || i % 3 as kind, 'label-' || i as label from generate_series(1, 20) i;
    create role tenant login; grant select on media to tenant;
    alter table media enable row level security; create policy everything on media using (true)`);
});
afterAll(async () => {
  await dataSource?.destroy();
  await server?.stop();
});

const of = (options: TypeOrmSourceOptions = {}): TypeOrmSourceOptions => ({
  dataSource,
  take: TAKE,
  ...options,
});

async function values(expression: string, table: string): Promise<string[]> {
  const rows: { value: string }[] = await dataSource.query(
    `select ${expression} as value from ${table} where ${expression} is not null`,
  );
  return rows.map(({ value }) => value);
}

describe('fromTypeOrm', () => {
  it.each<[column: 'id' | 'sku' | 'no' | 'code' | 'shelf' | 'price', expression: string]>([
    ['id', 'id'],
    ['sku', 'sku'],
    ['no', 'no::text'],
    ['code', 'code'],
    ['shelf', 'shelf'],
    ['price', 'price'],
  ])('reads every value of products.%s, also of rows that are soft-deleted', async (column, expression) => {
    const source = await madeBy(fromTypeOrm(Product, column, of()));
    const expected = await values(expression, 'products');
    expect((await readAll(source)).toSorted()).toEqual(expected.toSorted());
    expect(expected.length).toBeGreaterThan(60);
  });

  it('reads the ids of each tenant in its scope', async () => {
    const source = await madeBy(fromTypeOrm(Product, 'no', of({ scope: 'sku' })));
    const rows: { sku: string; no: string }[] = await dataSource.query('select sku, no from products');
    const expected = rows.map(({ sku, no }) => scopedId(sku, no));
    expect((await readAll(source)).toSorted()).toEqual(expected.toSorted());
    expect(await source.count!()).toBe(100);
    expect([source.scoped, source.idOrder]).toEqual([true, undefined]);
    // A transformer makes the scope that the application looks up.
    const labels = await madeBy(fromTypeOrm(Product, 'sku', of({ scope: 'label' })));
    await expect(readAll(labels)).rejects.toThrow('Expected a scope');
    await expect(madeBy(fromTypeOrm(Product, 'sku', of({ scope: 'nothing' })))).rejects.toThrow("'nothing'");
    const loose = await madeBy(fromTypeOrm(Loose, 'label', of({ scope: 'kind' })));
    await expect(readAll(loose)).rejects.toThrow('expected a key of');
  });

  it('takes the primary key where no property is named', async () => {
    const orders = await madeBy(fromTypeOrm(Order, of()));
    expect([orders.readsFrom, orders.idOrder]).toEqual(['orders.no', 'integer']);
    expect(await orders.newest!()).toBe(3n);
    expect((await madeBy(fromTypeOrm(Product, of()))).idOrder).toEqual({
      reason: expect.stringContaining('products.id is of type uuid'),
    });
    expect((await madeBy(fromTypeOrm(Product, of({ ids: 'uuidv7' })))).idOrder).toEqual({
      reason: expect.stringContaining('products.id has ids that are not uuidv7'),
    });
    await expect(madeBy(fromTypeOrm(Visit, of()))).rejects.toThrow('got at, no');
    await expect(madeBy(fromTypeOrm(Shelf, of()))).rejects.toThrow('got none');
  });

  it('follows a composite primary key whose dates are finer than those of JavaScript', async () => {
    const source = await madeBy(fromTypeOrm(Visit, 'visitor', of({ take: 2 })));
    expect(source.readsFrom).toBe('visits.visitor_key');
    expect((await readAll(source)).toSorted()).toEqual(
      (await values('visitor_key', 'shop.visits')).toSorted(),
    );
  });

  it('gives what a transformer makes of the stored value', async () => {
    const source = await madeBy(fromTypeOrm(Product, 'label', of()));
    expect((await readAll(source)).toSorted()).toEqual(
      (await values("'X-' || label", 'products')).toSorted(),
    );
    expect(source.spelling).toEqual({ column: 'products.label has a transformer' });
  });

  it('reads the rows of a child entity alone, and those of its parent all', async () => {
    expect(await readAll(await madeBy(fromTypeOrm(Film, 'id', of())))).toHaveLength(15);
    expect(await readAll(await madeBy(fromTypeOrm(Medium, 'id', of())))).toHaveLength(30);
  });

  it('reads each value of a view once, which has no primary key', async () => {
    const source = await madeBy(fromTypeOrm(Shelf, 'shelf', of({ take: 2 })));
    expect((await readAll(source)).map((shelf) => String(shelf).trim())).toEqual([
      's0',
      's1',
      's2',
      's3',
      's4',
    ]);
  });

  it('reads every row of a table without the key that its entity names', async () => {
    const source = await madeBy(fromTypeOrm(Loose, 'label', of({ take: 2 })));
    expect((await readAll(source)).toSorted()).toEqual((await values('label', 'loose')).toSorted());
  });

  it('reads each spelling of a value of a view once', async () => {
    const source = await madeBy(fromTypeOrm(Mark, 'code', of({ take: 1 })));
    expect(await readAll(source)).toEqual(['A', 'B', 'a']);
  });

  it('refuses a table whose policies may hide rows, unless they do not', async () => {
    const url = server.url.replace('test@', 'tenant@');
    const tenant = await new DataSource({ type: 'postgres', url, entities: [Medium] }).initialize();
    const source = (seesAllRows: boolean) =>
      madeBy(fromTypeOrm(Medium, 'id', of({ dataSource: tenant, seesAllRows })));
    await expect(readAll(await source(false))).rejects.toThrow(
      'The table "media" has row-level security for the user of this connection',
    );
    expect(await readAll(await source(true))).toHaveLength(30);
    await tenant.destroy();
  });

  it('reads what is committed when it is asked, past the cache of the DataSource', async () => {
    const source = await madeBy(fromTypeOrm(Medium, 'id', of()));
    const before = await readAll(source);
    await server.run(`insert into media (id, kind) values ('late', 'Medium')`);
    expect(await readAll(source)).toEqual(expect.arrayContaining([...before, 'late']));
    await server.run(`delete from media where id = 'late'`);
  });

  it('leaves no connection behind', async () => {
    const source = await madeBy(fromTypeOrm(Product, 'sku', of()));
    for await (const page of source.ids({ signal: new AbortController().signal })) {
      expect(page).toHaveLength(TAKE);
      break;
    }
    await readAll(source);
    const { master } = dataSource.driver as unknown as { master: { totalCount: number; idleCount: number } };
    expect(master.idleCount).toBe(master.totalCount);
  });

  it.each([
    ['id', 'uuid', 'products.id is of type uuid'],
    ['no', 'integer', 'products.no is of type bigint'],
    ['code', 'lowerCase', 'products.code is of type citext'],
    ['shelf', 'padded', 'products.shelf is of type character'],
  ] as const)('chooses how products.%s is spelled: %s', async (property, name, column) => {
    const { spelling } = await madeBy(fromTypeOrm(Product, property, of()));
    expect(spelling).toEqual({ column, name, normalize: expect.any(Function) });
  });

  it('chooses nothing for text, and knows of none for numbers with a fraction', async () => {
    expect((await madeBy(fromTypeOrm(Product, 'sku', of()))).spelling).toBeUndefined();
    expect((await madeBy(fromTypeOrm(Product, 'price', of()))).spelling).toEqual({
      column: 'products.price is of type numeric',
    });
  });

  it('counts a small table, and asks the planner about a large one', async () => {
    const small = await madeBy(fromTypeOrm(Product, 'sku', of()));
    expect(await small.count!()).toBe(100);
    await server.run(`insert into products (sku, no, shelf) select repeat('long', 50) || i, i, i % 7 from generate_series(1, 40000) i;
      analyze products; delete from products where no < 9000`);
    const estimate = (await small.count!())!;
    expect(estimate).toBeGreaterThan(39_000);
    expect(estimate).toBeLessThan(41_000);
    const shelves = await madeBy(fromTypeOrm(Product, 'shelf', of()));
    expect(await shelves.count!()).toBeLessThan(100);
    await server.run('delete from products where no < 100000');
  });

  it('names the columns there are, the entity that is unknown, and the DataSource that is not initialised', async () => {
    const misspelt = fromTypeOrm(Product, 'skuu' as 'sku', of());
    await expect(async () => madeBy(misspelt)).rejects.toThrow(
      /got 'skuu'\. Its columns are id, sku, no, code/,
    );
    class Unknown {
      id!: string;
    }
    await expect(async () => madeBy(fromTypeOrm(Unknown, 'id', of()))).rejects.toThrow(
      /the entity Unknown cannot be read: its DataSource does not know it/,
    );
    const early = new DataSource({ type: 'postgres', url: server.url, entities: [Product] });
    await expect(async () => madeBy(fromTypeOrm(Product, 'id', { dataSource: early }))).rejects.toThrow(
      /the entity Product cannot be read: its DataSource is not initialised/,
    );
  });

  it('fills a filter of an application, which finds an id by every spelling that the database takes', async () => {
    const [id] = await values('id', 'products');
    const source = fromTypeOrm(Product, 'id', { dataSource: 'shop' });
    await withFilledFilter(source, { provide: 'shopDataSource', useValue: dataSource }, async (filter) => {
      for (const spelling of [id!, id!.toUpperCase(), `{${id}}`, id!.replaceAll('-', '')]) {
        const found = await dataSource.query('select 1 from products where id = $1', [spelling]);
        expect([found, await filter.check(spelling)]).toEqual([[{ '?column?': 1 }], 'maybe']);
      }
    });
  });

  it('takes no property that cannot be an id', () => {
    // @ts-expect-error there is no such property
    expect(fromTypeOrm(Product, 'skuu')).toBeDefined();
    // @ts-expect-error a Date is no id
    expect(fromTypeOrm(Product, 'deletedAt')).toBeDefined();
  });
});

describe('fromTypeOrm with the option order', () => {
  async function since(source: BloomIdSource, mark: BloomMark | undefined): Promise<unknown[]> {
    const found: unknown[] = [];
    const context = { signal: new AbortController().signal };
    for await (const batch of source.idsSince!(mark, context)) found.push(batch);
    return found;
  }

  it('gives what is new by a column of times, soft-deleted rows included', async () => {
    const source = await madeBy(fromTypeOrm(Visit, 'visitor', of({ order: 'at', take: 4 })));
    expect(await source.newest!()).toBe('2026-01-01T00:00:00.000034Z');
    const found = (await since(source, '2026-01-01T00:00:00.000032Z')) as { ids: string[]; mark: string }[];
    const ids = ['visitor-46', 'visitor-47', 'visitor-48', 'visitor-49', 'visitor-0'];
    expect(found.flatMap((one) => one.ids)).toEqual(ids);
    expect(found.at(-1)!.mark).toBe('2026-01-01T00:00:00.000034Z');
    expect((await since(source, undefined)).length).toBe(25);
  });

  it('gives exact integers that are ids, by the name of the database', async () => {
    const source = await madeBy(fromTypeOrm(Product, 'no', of({ order: 'no' })));
    expect(await since(source, 9007199254741090n)).toEqual([
      [9007199254741091n, 9007199254741092n, 9007199254741093n],
    ]);
    expect(await source.newest!()).toBe(9007199254741093n);
  });

  it('gives ids as the transformer of the column makes them', async () => {
    const source = await madeBy(fromTypeOrm(Product, 'label', of({ order: 'no' })));
    expect(await since(source, 9007199254741092n)).toEqual([{ ids: ['X-100'], mark: 9007199254741093n }]);
  });

  it('refuses a column that is not there, or has no order', async () => {
    await expect(madeBy(fromTypeOrm(Product, 'sku', of({ order: 'nothing' })))).rejects.toThrow(
      'a column of a table',
    );
    await expect(madeBy(fromTypeOrm(Product, 'sku', of({ order: 'shelf' })))).rejects.toThrow(
      'got character(10)',
    );
  });
});
