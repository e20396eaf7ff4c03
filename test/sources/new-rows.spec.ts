import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import knex, { type Knex } from 'knex';
import type pg from 'pg';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomIdSource,
  BloomModule,
  BloomService,
  type BloomTopUpOptions,
  fromPages,
} from 'nestjs-bloom';
import { fromKnex, type KnexSourceOptions } from '@nestjs-bloom/knex';
import type { ManagedFilter } from '../../src/service/index.js';
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
    expect([await source.newest!(2), await source.newest!(5)]).toEqual([9007199254740993n, undefined]);
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
    ['made', /integers, texts, uuids or timestamps, got date/],
    ['padded', /integers, texts, uuids or timestamps, got character\(8\)/],
    ['folded', /integers, texts, uuids or timestamps, got citext/],
    ['twice', /to be unique/],
  ])('refuses the order by %s', async (order, message) => {
    await server.run(`create extension if not exists citext;
      create table if not exists f (id text, made date, padded char(8), folded citext, twice int)`);
    await expect(make('f', 'id', { order })).rejects.toThrow(message);
  });

  it.each(['timestamptz', 'timestamp', 'timestamptz(6)'])(
    'has times of type %s, to the microsecond',
    async (type) => {
      const table = `times_${type.replace(/\W/g, '')}`;
      await server.run(`create table ${table} (id text primary key, made ${type});
      insert into ${table} select 'id-' || i, '2026-10-25 00:59:59.999998Z'::timestamptz + i * interval '1 microsecond' from generate_series(1, 9) i;
      insert into ${table} values ('none', null), ('same-1', '2026-10-25 01:30:00.5Z'), ('same-2', '2026-10-25 01:30:00.5Z')`);
      // Its clocks went back at one o'clock, UTC.
      const inBerlin = knex({
        client: 'pg',
        connection: server.url,
        pool: {
          min: 0,
          afterCreate: (one: pg.Client, done: () => void) =>
            void one.query(`set timezone to 'Europe/Berlin'; set datestyle to 'SQL, DMY'`, done),
        },
      });
      try {
        const source = await madeBy(fromKnex(inBerlin, table, 'id', { order: 'made', take: 2 }));
        const newest = await source.newest!();
        expect(newest).toBe(`2026-10-25T01:30:00.500000${type === 'timestamp' ? '' : 'Z'}`);
        const all = (await since(source, undefined)) as { ids: string[]; mark: string }[];
        const expected = [...Array.from({ length: 9 }, (_, i) => `id-${i + 1}`), 'same-1', 'same-2'];
        expect(all.flatMap(({ ids }) => ids)).toEqual(expected);
        const marks = all.map(({ mark }) => mark);
        expect(marks).toEqual(marks.toSorted());
        const after = (await since(source, all[1]!.mark)) as { ids: string[] }[];
        expect(after.flatMap(({ ids }) => ids)).toEqual(expected.slice(4));
        await server.run(`insert into ${table} values ('never', 'infinity')`);
        await expect(source.newest!()).rejects.toThrow('years 1 to 9999');
      } finally {
        await inBerlin.destroy();
      }
    },
  );

  it('has neither idsSince nor newest without the option', async () => {
    await server.run(`create table g (id bigserial primary key, sku text unique)`);
    const source = await make('g', 'sku', {});
    expect(source.idsSince ?? source.newest).toBeUndefined();
  });
});

describe('fromPages with newRows', () => {
  interface Row {
    readonly id: string;
    readonly no: string;
  }
  const pagesOf = (table: string) =>
    fromPages<Row>(async () => [], {
      key: 'id',
      take: 2,
      newRows: {
        readPage: async ({ mark, after }, { take }) =>
          (
            await database.raw(`select id, no::text from ${table} where no > ? order by no limit ?`, [
              String(after?.no ?? mark ?? 0),
              take,
            ])
          ).rows,
        mark: ({ no }) => BigInt(no),
        newest: async () => {
          const { rows } = await database.raw(`select max(no)::text as no from ${table}`);
          return rows[0].no === null ? undefined : BigInt(rows[0].no);
        },
      },
    });

  it('gives what is new, page by page, and its mark', async () => {
    await server.run(`create table paged (id text, no bigint primary key)`);
    const source = pagesOf('paged');
    expect([await source.newest!(), await since(source, undefined)]).toEqual([undefined, []]);
    await server.run(
      `insert into paged values ('a', 1), (null, 2), ('c', 9007199254740993), ('d', 9007199254740995)`,
    );
    expect(await since(source, undefined)).toEqual([
      { ids: ['a'], mark: 2n },
      { ids: ['c', 'd'], mark: 9007199254740995n },
    ]);
    expect(await since(source, 9007199254740993n)).toEqual([{ ids: ['d'], mark: 9007199254740995n }]);
    expect(await source.newest!()).toBe(9007199254740995n);
  });

  it('gives plain ids where they are in the order themselves', async () => {
    const source = fromPages<number>(() => [], {
      newRows: { readPage: ({ mark, after }) => [1, 2, 3].filter((id) => id > Number(after ?? mark ?? 0)) },
    });
    expect(await since(source, 1)).toEqual([[2, 3]]);
    expect(source.newest).toBeUndefined();
  });

  it('needs a function', () => {
    expect(() => fromPages<number>(() => [], { newRows: {} as never })).toThrow('newRows.readPage');
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

  async function start(table: string, topUp: BloomTopUpOptions, { id = 'id', order = 'id' } = {}) {
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            source: fromKnex(database, table, id, { order }),
            rebuild: { drainMs: 0 },
            topUp,
          },
        ]),
      ],
    });
    const filter = module.get(BloomService).filter('products') as ManagedFilter;
    await eventually('there is a mark', async () => (await filter.info()).outside?.mark !== undefined);
    return filter;
  }

  it('are not denied, also when an earlier id is committed later', async () => {
    await server.run(
      `create table h (id bigserial primary key); insert into h select from generate_series(1, 3)`,
    );
    const filter = await start('h', { everyMs: 10, overlapMs: 3000 });
    const since = performance.now();
    const late = await database.transaction();
    const [{ id }] = (await late.raw('insert into h default values returning id')).rows;
    await server.run('insert into h select from generate_series(1, 150)');
    await eventually('later rows are read', async () => (await filter.check(154)) === 'maybe');
    expect(await filter.check(id)).not.toBe('absent');
    await late.commit();
    // A machine that stood still for so long has broken the condition.
    if (performance.now() - since > 3000) return;
    await eventually('the mark has passed', async () => (await filter.info()).outside?.mark === '54');
    expect(await filter.check(id)).toBe('maybe');
    await filter.rebuild({ join: false });
    await server.run('insert into h select from generate_series(1, 150)');
    await eventually(
      'the mark has passed them',
      async () => Number((await filter.info()).outside?.mark) > 154,
    );
    await filter.rebuild({ join: false });
    await eventually(
      'the gap before the first row is covered',
      async () => (await filter.check('-1')) === 'absent',
    );
    expect(await filter.checkMany(['500', '-1', 'abc'])).toEqual(['unknown', 'absent', 'absent']);
    expect(events.filter(({ type }) => type === 'top-up-failed')).toEqual([]);
  });

  it('are not denied when an earlier id is committed much later than the overlap, and later rows are read meanwhile', async () => {
    await server.run(
      `create table late (id bigserial primary key); insert into late select from generate_series(1, 300)`,
    );
    const filter = await start('late', { everyMs: 10, overlapMs: 50 });
    const open = await database.transaction();
    const [{ id }] = (await open.raw('insert into late default values returning id')).rows;
    for (let round = 0; round < 5; round++) {
      await server.run('insert into late select from generate_series(1, 150)');
      const last = 301 + 150 * (round + 1);
      await eventually('later rows are read', async () => (await filter.check(last)) === 'maybe');
      const { readings } = filter.metrics().outside!.topUp!;
      await eventually('it is read again', () => filter.metrics().outside!.topUp!.readings > readings + 10);
      expect(await filter.check(id)).toBe('unknown');
    }
    await filter.rebuild({ join: false });
    expect(Number((await filter.info()).outside!.mark)).toBeLessThan(Number(id));
    expect(await filter.check(id)).toBe('unknown');
    await open.commit();
    await eventually('the mark passes', async () => Number((await filter.info()).outside!.mark) > 900);
    expect(await filter.check(id)).toBe('maybe');
    expect(events.filter(({ type }) => type === 'top-up-failed')).toEqual([]);
  });

  const MADE = 'id uuid primary key default gen_random_uuid(), made';
  const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
  it.each([
    ['id', 'id bigserial primary key', 'values (2147483647)', (mark: string) => Number(mark) <= 600],
    ...[
      'timestamptz default clock_timestamp()',
      "timestamp default (clock_timestamp() at time zone 'UTC')",
    ].map(
      (type) =>
        [
          'made',
          `${MADE} ${type}`,
          "(made) values (now() + interval '1 year')",
          (mark: string) => mark < TOMORROW,
        ] as const,
    ),
  ])('are found when one of them is far ahead by %s: %s', async (order, columns, far, isInOrder) => {
    const table = `far_${order}_${columns.length}`;
    await server.run(`create table ${table} (${columns}, sku text default gen_random_uuid());
      insert into ${table} select from generate_series(1, 300); insert into ${table} ${far}`);
    const filter = await start(table, { everyMs: 10, overlapMs: 0 }, { id: 'sku', order });
    const marks: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { rows } = await database.raw(
        `insert into ${table} select from generate_series(1, 150) returning sku`,
      );
      const written = rows.map(({ sku }: { sku: string }) => sku);
      await eventually('all are added, and the mark follows', async () => {
        const { mark } = (await filter.info()).outside!;
        const verdicts = await filter.checkMany(written);
        if (mark === marks.at(-1) || !verdicts.every((verdict) => verdict === 'maybe')) return false;
        return marks.push(mark!) > 0;
      });
    }
    expect(marks.every(isInOrder)).toBe(true);
    expect(events.filter(({ type }) => type === 'top-up-failed')).toEqual([]);
  });
});
