import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import knex, { type Knex } from 'knex';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomIdSource,
  BloomModule,
  BloomService,
  type BloomTopUpOptions,
} from 'nestjs-bloom';
import { fromKnex, type KnexSourceOptions } from '../../src/sources/knex/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';
import { madeBy } from '../support/read-source.js';

let server: PostgresServer;
let database: Knex;

beforeAll(async () => {
  server = await requirePostgres();
  database = knex({ client: 'pg', connection: server.url, pool: { min: 0 } });
});
afterAll(async () => {
  await database?.destroy();
  await server?.stop();
});

const make = (table: string, column: string, options: KnexSourceOptions) =>
  madeBy(fromKnex(database, table, column, options));

async function since(source: BloomIdSource, mark: string | number | bigint | undefined): Promise<unknown[]> {
  const found: unknown[] = [];
  const context = { signal: new AbortController().signal };
  for await (const batch of source.idsSince!(mark, context)) found.push(batch);
  return found;
}

describe('A source with the option order', () => {
  it('gives ids after a mark, page by page, as exact integers', async () => {
    await server.run(`create table a (id bigserial primary key, name text);
      insert into a (id) select 9007199254740990 + i from generate_series(1, 5) i`);
    const source = await make('a', 'id', { order: 'id', take: 2 });
    expect(await since(source, 9007199254740992n)).toEqual([
      [9007199254740993n, 9007199254740994n],
      [9007199254740995n],
    ]);
    expect((await since(source, undefined)).flat()).toHaveLength(5);
    expect(await source.newest!()).toBe(9007199254740995n);
  });

  it('gives marks where ids are those of another column, and leaves out no row of a page that ends between equal ones', async () => {
    await server.run(`create table b (sku text primary key, version int);
      insert into b values ('p', 1), ('q', 2), ('r', 2), ('s', 2), ('t', 3), ('u', null)`);
    const source = await make('b', 'sku', { order: 'version', take: 2 });
    const found = (await since(source, 1n)) as { ids: string[]; mark: bigint }[];
    expect(found.flatMap(({ ids }) => ids)).toEqual(['q', 'r', 's', 't']);
    expect(found.at(-1)!.mark).toBe(3n);
    expect((await since(source, undefined)).length).toBe(3);
    expect(await source.newest!()).toBe(3n);
  });

  it('compares texts by code points, whatever the collation', async () => {
    await server.run(`create collation german (provider = icu, locale = 'de');
      create table c (id text collate german primary key);
      insert into c values ('a'), ('B'), ('Z'), ('b'), ('é'), ('\u{1f600}'), ('\uffee')`);
    const source = await make('c', 'id', { order: 'id', take: 2 });
    expect((await since(source, 'B')).flat()).toEqual(['Z', 'a', 'b', 'é', '\uffee', '\u{1f600}']);
    expect(await source.newest!()).toBe('\u{1f600}');
  });

  it('has uuids in their order', async () => {
    await server.run(`create table d (id uuid primary key);
      insert into d values ('018f0000-0000-7000-8000-000000000001'), ('018f0000-0000-7000-8000-00000000000a')`);
    const source = await make('d', 'id', { order: 'id' });
    expect(await since(source, '018f0000-0000-7000-8000-000000000001')).toEqual([
      ['018f0000-0000-7000-8000-00000000000a'],
    ]);
  });

  it('has no newest row while there is none', async () => {
    await server.run(`create table e (id bigserial primary key)`);
    const source = await make('e', 'id', { order: 'id' });
    expect(await source.newest!()).toBeUndefined();
    expect(await since(source, undefined)).toEqual([]);
  });

  it.each([
    ['nothing', /a column of a table/],
    ['made', /integers, texts or uuids, got timestamp/],
    ['twice', /to be unique/],
  ])('refuses the order by %s', async (order, message) => {
    await server.run(`create table if not exists f (id text, made timestamp, twice int)`);
    await expect(make('f', 'id', { order })).rejects.toThrow(message);
  });

  it('has neither idsSince nor newest without the option', async () => {
    await server.run(`create table g (id bigserial primary key)`);
    const source = await make('g', 'id', {});
    expect(source.idsSince ?? source.newest).toBeUndefined();
  });
});

describe('Rows that others write to Postgres', () => {
  let module: TestingModule | undefined;
  const events: BloomEvent[] = [];
  afterEach(async () => {
    await module?.close();
    module = undefined;
    events.length = 0;
  });

  async function start(table: string, topUp: BloomTopUpOptions) {
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            source: fromKnex(database, table, 'id', { order: 'id' }),
            rebuild: { drainMs: 0 },
            topUp,
          },
        ]),
      ],
    });
    const filter = module.get(BloomService).filter('products');
    await eventually('there is a mark', async () => (await filter.info()).outside?.mark !== undefined);
    return filter;
  }

  it('are not denied, also when an earlier id is committed later', async () => {
    await server.run(
      `create table h (id bigserial primary key); insert into h select from generate_series(1, 3)`,
    );
    const filter = await start('h', { everyMs: 10, overlapMs: 3000, ordered: true });
    const since = performance.now();
    const late = await database.transaction();
    const [{ id }] = (await late.raw('insert into h default values returning id')).rows;
    await server.run('insert into h select from generate_series(1, 50)');
    await eventually('later rows are read', async () => (await filter.check(54)) === 'maybe');
    expect(await filter.check(id)).not.toBe('absent');
    await late.commit();
    // A machine that stood still for so long has broken the condition.
    if (performance.now() - since > 3000) return;
    await eventually('the mark has passed', async () => (await filter.info()).outside?.mark === '54');
    expect(await filter.check(id)).toBe('maybe');
    expect(await filter.checkMany(['55', '-1', 'abc'])).toEqual(['unknown', 'absent', 'absent']);
    expect(events.filter(({ type }) => type === 'top-up-failed')).toEqual([]);
  });
});
