import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CamelCasePlugin,
  type DialectAdapter,
  type Generated,
  Kysely,
  DummyDriver,
  MssqlAdapter,
  MssqlQueryCompiler,
  MysqlAdapter,
  MysqlQueryCompiler,
  ParseJSONResultsPlugin,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  type QueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
} from 'kysely';
import pg from 'pg';
import { fromKysely } from '../src/index.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';
import { withFilledFilter } from '../../../test/support/filled-application.js';
import {
  readsShopTables,
  type ShopTables,
  startShopTables,
  takesPrimaryKey,
  texts,
} from '../../../test/support/shop-tables.js';

interface Database {
  products: { id: Generated<string>; sku: string; no: string; madeAt: Date | null };
  'shop.visits': { at: Date; visitorKey: string };
}

let shop: ShopTables;
let database: Kysely<Database>;

beforeAll(async () => {
  shop = await startShopTables();
  database = new Kysely<Database>({ dialect: new PostgresDialect({ pool: shop.pool }) });
});
afterAll(() => shop?.stop());

/** The database, whose library takes it for another one. */
function withAdapter(adapter: DialectAdapter, pool = shop.pool): Kysely<Database> {
  class Dialect extends PostgresDialect {
    override createAdapter() {
      return adapter;
    }
  }
  return new Kysely<Database>({ dialect: new Dialect({ pool }) });
}

describe('fromKysely', () => {
  readsShopTables(
    () => shop,
    (path, take) => madeBy(fromKysely(database as Kysely<unknown>, path, { take })),
  );

  it('takes the primary key where no column is named', async () => {
    const names: Kysely<unknown> = database as Kysely<unknown>;
    await takesPrimaryKey(async (table) =>
      madeBy(fromKysely(table === 'visits' ? names.withSchema('shop') : names, table)),
    );
    // @ts-expect-error there is no such table
    expect(fromKysely(database, 'product')).toBeDefined();
    expect(fromKysely(database, 'products')).toBeDefined();
  });

  it('takes names as the plugins of Kysely write them', async () => {
    const camel = database.withPlugin(new CamelCasePlugin({ underscoreBeforeDigits: true }));
    const source = await madeBy(fromKysely(camel, 'shop.visits.visitorKey', { take: 3 }));
    const visitors = (await shop.values('visitor_key', 'shop.visits')).toSorted();
    expect(texts(await readAll(source))).toEqual(visitors);
    const inSchema = camel.withSchema('shop') as Kysely<unknown>;
    expect(texts(await readAll(await madeBy(fromKysely(inSchema, 'visits.visitorKey'))))).toEqual(visitors);
  });

  it('reads the catalog through a plugin that parses texts which look like JSON', async () => {
    const parsing = database.withPlugin(new ParseJSONResultsPlugin());
    expect(await readAll(await madeBy(fromKysely(parsing, 'products.sku')))).toHaveLength(100);
  });

  it.each([
    ['at', 'a Date'],
    ['serial', 'an integer that JavaScript rounds'],
  ])('refuses pages that end with %s, which the driver gives as %s', async (key) => {
    const rounding = {
      getTypeParser: (type: number) => (text: string) =>
        type === pg.types.builtins.INT8 ? Number(text) * 2 ** 53 : pg.types.getTypeParser(type)(text),
    };
    const pool = new pg.Pool({ connectionString: shop.server.url, types: rounding as pg.CustomTypesConfig });
    const other = withAdapter(new SqliteAdapter(), pool) as Kysely<unknown>;
    const source = await madeBy(fromKysely(other, 'shop.visits.visitor_key', { key: [key], take: 7 }));
    await expect(readAll(source)).rejects.toThrow(
      'to end with a value that says exactly where the next one begins',
    );
    await pool.end();
  });

  it('reads by the key and the type that are given, without a look at the catalog', async () => {
    const source = await madeBy(
      fromKysely(database, 'products.no', { key: ['id'], type: 'varchar', take: 7 }),
    );
    expect(texts(await readAll(source))).toEqual((await shop.values('no', 'products')).toSorted());
    expect(source.spelling).toBeUndefined();
  });

  it('refuses a key that is null in a row, after which no page can begin', async () => {
    const given = { key: ['no'], type: 'text', take: 1 };
    const source = await madeBy(fromKysely(database as Kysely<unknown>, 'tenants.name', given));
    await expect(readAll(source)).rejects.toThrow(
      'expected the columns no of the option key to have a value in every row of tenants.name, got null in one',
    );
  });

  it('reads with the SQL of all databases where the adapter is not the one of Postgres, and the key is given', async () => {
    const other = withAdapter(new SqliteAdapter());
    await expect(madeBy(fromKysely(other, 'products.sku'))).rejects.toThrow(
      "expected the option key for products.sku, since the database does not say it: the columns of the primary key, or ['sku']",
    );
    const [at, visitor] = [{ key: ['visit_no', 'serial'], take: 7 }, 'shop.visits.visitor_key'] as const;
    const source = await madeBy(fromKysely(other as Kysely<unknown>, visitor, at));
    expect(texts(await readAll(source))).toEqual(
      (await shop.values('visitor_key', 'shop.visits')).toSorted(),
    );
    expect(source.spelling).toEqual({
      column: 'shop.visits.visitor_key is of a type that only the option `type` can tell',
    });
    expect(await source.count!()).toBe(100);
  });

  describe('of another dialect', () => {
    /** A database that nobody asks. */
    const of = (adapter: DialectAdapter, compiler: QueryCompiler) =>
      new Kysely<unknown>({
        dialect: {
          createAdapter: () => adapter,
          createDriver: () => new DummyDriver(),
          createIntrospector: (made) => new PostgresIntrospector(made),
          createQueryCompiler: () => compiler,
        },
      });
    const make = (made: Kysely<unknown>) =>
      madeBy(fromKysely(made, 'products.sku', { key: ['sku'], type: 'varchar(20)' }));

    /** A dialect of one's own, which does not say what it can. */
    class OtherAdapter extends MssqlAdapter {
      override get supportsTransactionalDdl(): boolean {
        return undefined as never;
      }
    }

    it.each([
      ['MySQL', new MysqlAdapter(), new MysqlQueryCompiler(), 'lowerCase'],
      ['SQLite', new SqliteAdapter(), new SqliteQueryCompiler(), undefined],
      ['nobody knows', new OtherAdapter(), new SqliteQueryCompiler(), 'lowerCase'],
    ])('takes texts for equal as %s does', async (_, adapter, compiler, normalize) => {
      expect((await make(of(adapter, compiler))).spelling?.name).toBe(normalize);
    });

    it('is not read where queries have no LIMIT', async () => {
      await expect(make(of(new MssqlAdapter(), new MssqlQueryCompiler()))).rejects.toThrow(
        "expected a database whose parameters are written $1 or ?, got '@1', as SQL Server writes them",
      );
    });

    it('is known without the names of its classes, which a bundle shortens', async () => {
      const classes = [PostgresAdapter, MysqlAdapter, SqliteAdapter];
      const names = classes.map(({ name }) => name);
      const rename = (to: readonly string[]) =>
        classes.forEach((one, i) => Object.defineProperty(one, 'name', { value: to[i], configurable: true }));
      try {
        rename(['a', 'b', 'c']);
        expect((await make(of(new MysqlAdapter(), new MysqlQueryCompiler()))).spelling?.name).toBe(
          'lowerCase',
        );
        expect((await madeBy(fromKysely(database, 'products.id'))).spelling?.name).toBe('uuid');
      } finally {
        rename(names);
      }
    });
  });

  it('fills a filter of an application, which finds an id by every spelling that the database takes', async () => {
    const [id] = await shop.values('id', 'products');
    const source = fromKysely<Database>('KYSELY', 'products.id');
    await withFilledFilter(source, { provide: 'KYSELY', useValue: database }, async (filter) => {
      expect(await filter.check(`{${id!.toUpperCase()}}`)).toBe('maybe');
    });
  });

  it('takes the token of a database, and no column that cannot be an id', () => {
    expect(fromKysely<Database>('KYSELY', 'products.sku').inject).toEqual(['KYSELY']);
    expect(fromKysely('KYSELY', 'anything.there').inject).toEqual(['KYSELY']);
    // @ts-expect-error there is no such column
    expect(fromKysely<Database>('KYSELY', 'products.skuu')).toBeDefined();
    // @ts-expect-error a Date is no id
    expect(fromKysely(database, 'products.madeAt')).toBeDefined();
  });
});
