import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { drizzle } from 'drizzle-orm/mysql2';
import { bigint, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import knex, { type Knex } from 'knex';
import { Kysely, MysqlDialect } from 'kysely';
import { createPool, type Pool } from 'mysql2';
import { DataSource, EntitySchema } from 'typeorm';
import {
  type BloomEvent,
  type BloomIdSource,
  type BloomSourceFactory,
  BloomModule,
  BloomService,
} from '../../src/index.js';
import { fromDrizzle } from '@nestjs-bloom/drizzle';
import { fromKnex } from '@nestjs-bloom/knex';
import { fromKysely } from '@nestjs-bloom/kysely';
import { fromTypeOrm } from '@nestjs-bloom/typeorm';
import { type MariaDbServer, requireMariaDb } from '../support/mariadb-server.js';
import { startContext } from '../support/nest-app.js';
import { madeBy, readAll } from '../support/read-source.js';

const COLLATIONS = {
  general: 'utf8mb4_general_ci',
  old_general: 'utf8mb3_general_nopad_ci',
  swedish: 'latin1_swedish_ci',
  unicode: 'utf8mb4_unicode_ci',
  exact: 'utf8mb4_bin',
  cased: 'utf8mb4_uca1400_as_cs',
} as const;
type Table = keyof typeof COLLATIONS;
const TABLES = Object.keys(COLLATIONS) as Table[];
const BEYOND = ['9007199254740993', '9007199254740995'];

let server: MariaDbServer;
let database: Knex;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await requireMariaDb();
  database = knex({ client: 'mysql2', connection: server.url, pool: { min: 0 } });
  for (const [table, collation] of Object.entries(COLLATIONS))
    await database.raw(
      `create table ${table} (name varchar(20) character set ${collation.split('_')[0]} collate ${collation} primary key)`,
    );
  await database.raw(`insert into general values ('straße')`);
  await database.raw('create table orders (id bigint auto_increment primary key)');
  await database.raw('create table given (id bigint primary key)');
  await database.raw('create table forgotten (id bigint auto_increment primary key) engine = memory');
  await database.raw(`insert into orders values ${BEYOND.map((id) => `(${id})`).join(', ')}`);
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await database?.destroy();
  await server?.stop();
});

const entityOf = (tableName: string, column: string, type: 'varchar' | 'bigint') =>
  new EntitySchema<Record<string, string>>({
    name: tableName,
    tableName,
    columns: { [column]: { type, primary: true, ...(type === 'varchar' && { length: 20 }) } },
  });
const ENTITIES = Object.fromEntries([
  ...TABLES.map((table) => [table, entityOf(table, 'name', 'varchar')]),
  ['orders', entityOf('orders', 'id', 'bigint')],
  ['given', entityOf('given', 'id', 'bigint')],
  ['forgotten', entityOf('forgotten', 'id', 'bigint')],
]) as Record<string, EntitySchema<Record<string, string>>>;

function kysely(connection: object): Kysely<unknown> {
  const pool: Pool = createPool({ uri: server.url, ...connection });
  const made = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) });
  closing.push(() => made.destroy());
  return made;
}

/** A source of a column, by a connection with these options. */
type Make = (
  table: string,
  column: string,
  connection?: object,
) => BloomSourceFactory | Promise<BloomSourceFactory>;

const MAKERS: Readonly<Record<string, Make>> = {
  fromKnex: (table, column, connection = {}) => {
    const made = knex({ client: 'mysql2', connection: { uri: server.url, ...connection }, pool: { min: 0 } });
    closing.push(() => made.destroy());
    return fromKnex(made, table, column, { key: [column], type: column === 'id' ? 'bigint' : 'varchar(20)' });
  },
  fromKysely: (table, column, connection = {}) =>
    fromKysely(kysely(connection), `${table}.${column}`, {
      key: [column],
      type: column === 'id' ? 'bigint' : 'varchar(20)',
    }),
  fromDrizzle: (table, column, connection = {}) => {
    const pool = createPool({ uri: server.url, ...connection });
    closing.push(() => pool.promise().end());
    return column === 'id'
      ? fromDrizzle(drizzle(pool), mysqlTable(table, { id: bigint({ mode: 'bigint' }).primaryKey() }).id)
      : fromDrizzle(drizzle(pool), mysqlTable(table, { name: varchar({ length: 20 }).primaryKey() }).name);
  },
  fromTypeOrm: async (table, column, connection = {}) => {
    const dataSource = await new DataSource({
      type: 'mariadb',
      url: server.url,
      entities: Object.values(ENTITIES),
      ...connection,
    }).initialize();
    closing.push(() => dataSource.destroy());
    return fromTypeOrm(ENTITIES[table]!, column, { dataSource });
  },
};

describe.each(Object.entries(MAKERS))('On MariaDB, %s', (_, make) => {
  it.each<[Table, string, string | undefined]>([
    ['general', 'lowerCase', "'ß' and 's'"],
    ['old_general', 'lowerCase', "'ß' and 's'"],
    ['swedish', 'lowerCase', "'ü' and 'y'"],
    ['unicode', 'lowerCase', undefined],
    ['exact', 'padded', undefined],
    ['cased', 'lowerCase', undefined],
  ])('asks for the collation of the table %s', async (table, name, alsoEqual) => {
    const { spelling } = await madeBy(await make(table, 'name'));
    expect([spelling?.name, spelling?.alsoEqual]).toEqual([name, alsoEqual]);
    expect(spelling?.column).toContain('varchar');
  });

  it('knows that AUTO_INCREMENT makes ids in order', async () => {
    expect((await madeBy(await make('orders', 'id'))).idOrder).toBe('integer');
    expect((await madeBy(await make('given', 'id'))).idOrder).toEqual({
      reason: expect.stringContaining('the database makes no ids of given.id in order'),
    });
    expect((await madeBy(await make('exact', 'name'))).idOrder).toEqual({
      reason: expect.stringContaining('exact.name is of type varchar'),
    });
  });

  it('knows no order of an engine that forgets its rows, and of servers that share a table', async () => {
    expect((await madeBy(await make('forgotten', 'id'))).idOrder).toEqual({
      reason: expect.stringContaining('they come from the engine MEMORY'),
    });
    await database.raw('set global auto_increment_increment = 2');
    try {
      expect((await madeBy(await make('orders', 'id'))).idOrder).toEqual({
        reason: expect.stringContaining('they come from a server with auto_increment_increment = 2'),
      });
      // As plugins do that rename columns.
      const renaming = knex({
        client: 'mysql2',
        connection: server.url,
        pool: { min: 0 },
        postProcessResponse: ([rows, columns]: readonly [readonly object[], unknown]) => [
          rows.map((row) =>
            Object.fromEntries(
              Object.entries(row).map(([name, value]) => [name.replace('_name', 'Name'), value]),
            ),
          ),
          columns,
        ],
      });
      try {
        expect((await madeBy(fromKnex(renaming, 'orders', 'id', { key: ['id'] }))).idOrder).toEqual({
          reason: expect.stringContaining('auto_increment_increment = 2'),
        });
      } finally {
        await renaming.destroy();
      }
    } finally {
      await database.raw('set global auto_increment_increment = 1');
    }
  });

  it('reads ids beyond 2^53 as the driver is told to give them', async () => {
    const read = await readAll(
      await madeBy(await make('orders', 'id', { supportBigNumbers: true, bigNumberStrings: true })),
    );
    expect(read.map(String)).toEqual(BEYOND);
  });
});

describe('On MariaDB', () => {
  const rounding = () => ({ client: 'mysql2', connection: server.url, pool: { min: 0 } });

  async function rebuilt(source: BloomIdSource | BloomSourceFactory): Promise<BloomEvent[]> {
    const events: BloomEvent[] = [];
    const module = await startContext({
      imports: [
        BloomModule.forRoot({
          onEvent: (event) => events.push(event),
          filters: [{ name: 'rows', capacity: 10, source, rebuild: { drainMs: 1, onBoot: 'never' } }],
        }),
      ],
    });
    await module
      .get(BloomService)
      .filter('rows')
      .rebuild()
      .catch(() => {});
    await module.close();
    return events;
  }

  it.each([1, 5000])(
    'an id that the driver has rounded is refused, with the options of the driver, in pages of %d',
    async (take) => {
      const source = fromKnex(database, 'orders', 'id', { key: ['id'], type: 'bigint', take });
      const failed = (await rebuilt(source)).find(({ type }) => type === 'rebuild-failed');
      const text = String(failed && 'error' in failed && failed.error);
      expect(text).toContain('got the number 9007199254740992. JavaScript has rounded this integer.');
      expect(text).toContain('supportBigNumbers and bigNumberStrings of mysql2');
      expect(text).not.toContain('onBadId');
      const marked = await madeBy(
        fromKnex(database, 'orders', 'id', { key: ['id'], type: 'bigint', order: 'id' }),
      );
      await expect(marked.newest!()).rejects.toThrow('supportBigNumbers and bigNumberStrings of mysql2');
    },
  );

  it('what the collation takes for equal beyond the case is an advice at start', async () => {
    const source = (table: string) =>
      fromKnex(database, table, 'name', { key: ['name'], type: 'varchar(20)' });
    const adviceOn = async (table: string) =>
      (await rebuilt(source(table))).filter(
        (event) => event.type === 'advice' && !event.text.startsWith('BLOOM_NEW_ROWS_ABSENT: '),
      );
    expect(await adviceOn('general')).toMatchObject([
      {
        text: expect.stringMatching(
          /^BLOOM_SPELLINGS: general\.name is of type varchar\(20\) with the collation utf8mb4_general_ci, which takes 'ß' and 's' for equal and lowerCase does not/,
        ),
      },
    ]);
    expect(await adviceOn('unicode')).toEqual([]);
  });

  it('texts that a collation with case takes for equal have one spelling', async () => {
    const spellings = ['é', 'e\u0301', 'e\u200b\u0301', 'é '];
    await database('cased').insert({ name: 'é' });
    const found = spellings.map((name) => database('cased').where({ name }).pluck('name'));
    expect(await Promise.all(found)).toEqual(spellings.map(() => ['é']));
    const { spelling } = await madeBy(
      fromKnex(database, 'cased', 'name', { key: ['name'], type: 'varchar(20)' }),
    );
    expect(new Set(spellings.map(spelling!.normalize!)).size).toBe(1);
  });

  it('a dialect that nobody knows counts as one without case', async () => {
    const Client = database.client.constructor as new (config: object) => Knex.Client;
    class OtherClient extends Client {}
    Object.assign(OtherClient.prototype, { dialect: 'other' });
    const other = knex({ ...rounding(), client: OtherClient as typeof Knex.Client });
    closing.push(() => other.destroy());
    const { spelling } = await madeBy(
      fromKnex(other, 'unicode', 'name', { key: ['name'], type: 'varchar(20)' }),
    );
    expect(spelling?.name).toBe('lowerCase');
  });

  it('a text of which no type is given counts by its collation', async () => {
    const spellingOf = async (table: string) =>
      (await madeBy(fromKnex(database, table, 'name', { key: ['name'] }))).spelling?.name;
    expect([await spellingOf('unicode'), await spellingOf('exact')]).toEqual(['lowerCase', 'padded']);
  });

  it('newest() leaves out rows', async () => {
    const strings = knex({
      client: 'mysql2',
      connection: { uri: server.url, supportBigNumbers: true, bigNumberStrings: true },
      pool: { min: 0 },
    });
    closing.push(() => strings.destroy());
    const source = await madeBy(
      fromKnex(strings, 'orders', 'id', { key: ['id'], type: 'bigint', order: 'id' }),
    );
    expect([await source.newest!(), await source.newest!(1), await source.newest!(2)]).toEqual([
      BigInt(BEYOND[1]!),
      BigInt(BEYOND[0]!),
      undefined,
    ]);
  });
});
