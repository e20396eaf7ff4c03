import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import pg from 'pg';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomIdSource,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { postgresFeed, type PostgresFeedOptions } from '../../../src/sources/postgres-feed/index.js';
import { eventually } from '../../support/eventually.js';
import { startContext } from '../../support/nest-app.js';
import { PATIENT } from '../../support/patience.js';
import { type PostgresServer, requirePostgres } from '../../support/postgres-server.js';
import { RedisFixture } from '../../support/redis-fixture.js';

let server: PostgresServer;
let redis: RedisFixture;
let database: pg.Pool;
let named = 0;
const opened: TestingModule[] = [];
let events: BloomEvent[] = [];

beforeAll(async () => {
  server = await requirePostgres({
    settings: ['wal_level=logical', 'fsync=off', 'max_wal_senders=10', 'max_replication_slots=20'],
  });
  database = new pg.Pool({ connectionString: server.url });
  database.on('error', () => {});
  redis = await RedisFixture.start();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((module) => module.close()));
  events = [];
});
afterAll(async () => {
  await database?.end();
  await redis?.close();
  await server?.stop();
});

interface Made {
  readonly table: string;
  readonly filter: string;
  readonly slot: string;
}

async function table(columns = 'id text primary key, note text'): Promise<Made> {
  const name = `t${++named}`;
  await database.query(`create table ${name} (${columns})`);
  return { table: name, filter: redis.name(), slot: `slot_${name}` };
}

/** All rows; counts how often they were read. */
function sourceOf({ table: name }: Made, scans: { count: number }): BloomIdSource {
  return {
    ids: async function* () {
      scans.count++;
      const { rows } = await database.query<{ id: string }>(`select id::text from ${name}`);
      yield rows.map(({ id }) => id);
    },
  };
}

async function start(
  made: Made,
  options: Partial<PostgresFeedOptions> = {},
  scans = { count: 0 },
): Promise<BloomFilter> {
  const module = await startContext({
    imports: [
      BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
      BloomModule.forFeature([
        {
          name: made.filter,
          // Room for the ids of every test: none of those that are to be absent passes by chance.
          capacity: 10_000,
          errorRate: 1e-6,
          source: sourceOf(made, scans),
          rebuild: { drainMs: 1, minRatio: 0, leaseMs: 500 },
          feed: postgresFeed({
            connection: server.url,
            table: made.table,
            column: 'id',
            publication: `pub_${made.table}`,
            slot: made.slot,
            create: true,
            ...options,
          }),
        },
      ]),
    ],
  });
  opened.push(module);
  return module.get(BloomService).filter(made.filter);
}

const feedOf = async (filter: BloomFilter) => (await filter.info()).outside?.feed;
/** What was missed is in the filter, and from here on it goes by the log alone. */
const hasBegun = (filter: BloomFilter) =>
  eventually('the feed has noted a position', async () => {
    const failed = events.find((event) => event.type === 'feed-failed') as { error: Error } | undefined;
    if (failed) throw failed.error;
    return (await redis.client().hget(`bloom:{${filter.name}}:outside`, 'position')) !== null;
  });
const isAdded = (filter: BloomFilter, id: string) =>
  eventually(`${id} is added`, async () => (await filter.check(id)) === 'maybe');

const close = () => Promise.all(opened.splice(0).map((module) => module.close()));

describe('postgresFeed', () => {
  it('adds what anybody commits, and nothing that is rolled back', async () => {
    const made = await table();
    const scans = { count: 0 };
    const filter = await start(made, {}, scans);
    await hasBegun(filter);
    const before = scans.count;
    await database.query(`insert into ${made.table} select 'a' || i from generate_series(1, 2000) i`);
    await database.query(`begin; insert into ${made.table} values ('rolled-back'); rollback`);
    await database.query(`insert into ${made.table} values ('last')`);
    await isAdded(filter, 'last');
    expect(new Set(await filter.checkMany(Array.from({ length: 2000 }, (_, i) => `a${i + 1}`)))).toEqual(
      new Set(['maybe']),
    );
    expect(await filter.check('rolled-back')).toBe('absent');
    expect(scans.count).toBe(before);
    await eventually('all is acknowledged', async () => (await feedOf(filter))?.behindBytes === 0);
    expect(await feedOf(filter)).toMatchObject({
      isRunning: true,
      position: expect.stringMatching(/^\w+\/\w+$/),
    });
  });

  it('adds a new id of a row, and takes no notice of deletes, of TRUNCATE and of other tables', async () => {
    const made = await table();
    await database.query(`create table other_${made.table} (id text primary key)`);
    await database.query(`create publication pub_${made.table} for table ${made.table}, other_${made.table}`);
    const filter = await start(made);
    await hasBegun(filter);
    await database.query(`insert into ${made.table} values ('one', 'x')`);
    await database.query(`insert into other_${made.table} values ('foreign')`);
    await database.query(`update ${made.table} set id = 'renamed' where id = 'one'`);
    await database.query(
      `delete from ${made.table}; insert into ${made.table} values ('two'); truncate ${made.table}`,
    );
    await database.query(`insert into ${made.table} values ('three', repeat('long', 100000))`);
    await database.query(`update ${made.table} set note = note where id = 'three'`);
    await database.query(`insert into ${made.table} values ('last')`);
    await isAdded(filter, 'last');
    expect(await filter.checkMany(['one', 'renamed', 'two', 'three'])).toEqual(Array(4).fill('maybe'));
    expect(await filter.check('foreign')).toBe('absent');
  });

  it.each([true, false])('follows partitions, also of a publication that names them: %p', async (create) => {
    const made: Made = { table: `shop.p${++named}`, filter: redis.name(), slot: `slot_p${named}` };
    const publication = `pub_p${named}`;
    await database.query(`create schema if not exists shop;
      create table ${made.table} (id int primary key) partition by range (id);
      create table ${made.table}_a partition of ${made.table} for values from (0) to (100)`);
    if (!create) await database.query(`create publication ${publication} for table ${made.table}`);
    const filter = await start(made, { publication });
    await hasBegun(filter);
    await database.query(`insert into ${made.table} values (1);
      create table ${made.table}_b partition of ${made.table} for values from (100) to (200)`);
    await database.query(`insert into ${made.table} values (150)`);
    await isAdded(filter, '150');
    expect(await filter.check('1')).toBe('maybe');
  });

  it('goes on from its slot after it was stopped, without a rebuild', async () => {
    const made = await table();
    const scans = { count: 0 };
    const filter = await start(made, {}, scans);
    await hasBegun(filter);
    const before = scans.count;
    await close();
    await database.query(`insert into ${made.table} values ('meanwhile')`);
    const again = await start(made, {}, scans);
    await isAdded(again, 'meanwhile');
    expect(scans.count).toBe(before);
    expect(events.filter(({ type }) => type === 'feed-gap')).toHaveLength(1);
  });

  it('goes on when its connections are cut, and loses no row', async () => {
    const made = await table();
    const filter = await start(made);
    await hasBegun(filter);
    let last = 0;
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 40; i++) await database.query(`insert into ${made.table} values ('r${++last}')`);
      await database.query(
        `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${made.slot}' and active`,
      );
    }
    await isAdded(filter, `r${last}`);
    const ids = Array.from({ length: last }, (_, i) => `r${i + 1}`);
    expect((await filter.checkMany(ids)).filter((verdict) => verdict !== 'maybe')).toEqual([]);
    expect(events.some(({ type }) => type === 'feed-failed')).toBe(true);
  });

  it('goes on when Postgres has crashed and is back', async () => {
    const made = await table();
    const scans = { count: 0 };
    const filter = await start(made, {}, scans);
    await hasBegun(filter);
    const before = scans.count;
    for (let i = 0; i < 100; i++) await database.query(`insert into ${made.table} values ('before-${i}')`);
    await server.crash();
    await database.query(`insert into ${made.table} values ('after')`);
    await isAdded(filter, 'after');
    const ids = Array.from({ length: 100 }, (_, i) => `before-${i}`);
    expect((await filter.checkMany(ids)).filter((verdict) => verdict !== 'maybe')).toEqual([]);
    expect(scans.count).toBe(before);
  });

  it('ends with the application while Postgres waits for a transaction before it makes the slot', async () => {
    const made = await table();
    const open = await database.connect();
    await open.query(`begin; insert into ${made.table} values ('uncommitted')`);
    await start(made);
    const waits = `select 1 from pg_stat_activity where query like '%pg_create_logical%' and pid <> pg_backend_pid() and wait_event is not null`;
    await eventually('the slot is waited for', async () => (await database.query(waits)).rowCount! > 0);
    await close();
    await open.query('rollback');
    open.release();
    expect(events.filter(({ type }) => type === 'feed-failed')).toEqual([]);
  });

  it('acknowledges nothing that was not added', async () => {
    const made = await table();
    const filter = await start(made);
    await hasBegun(filter);
    await eventually('all is acknowledged', async () => (await feedOf(filter))?.behindBytes === 0);
    const client = redis.client();
    // Every write is refused.
    await client.config('SET', 'min-replicas-to-write', '1');
    await database.query(`insert into ${made.table} values ('unrecorded')`);
    await eventually('an event', () => events.some(({ type }) => type === 'feed-failed'));
    await client.config('SET', 'min-replicas-to-write', '0');
    await isAdded(filter, 'unrecorded');
  });

  it('is followed by one process of many, and another one takes over', async () => {
    const made = await table();
    const filters: BloomFilter[] = [];
    for (let i = 0; i < 3; i++) filters.push(await start(made));
    await hasBegun(filters[0]!);
    const running = async () => (await Promise.all(filters.map(feedOf))).map((feed) => feed!.isRunning);
    await eventually('one follows', async () => (await running()).includes(true));
    expect((await running()).filter(Boolean)).toHaveLength(1);
    const at = (await running()).indexOf(true);
    await opened[at]!.close();
    opened.splice(at, 1);
    filters.splice(at, 1);
    await database.query(`insert into ${made.table} values ('later')`);
    await isAdded(filters[0]!, 'later');
  });

  it('rebuilds when its slot is gone, and when somebody else has read from it', async () => {
    const made = await table();
    const scans = { count: 0 };
    const filter = await start(made, {}, scans);
    await hasBegun(filter);
    await close();
    await database.query(`insert into ${made.table} values ('lost-with-the-slot')`);
    await database.query(`select pg_drop_replication_slot('${made.slot}')`);
    const again = await start(made, {}, scans);
    await isAdded(again, 'lost-with-the-slot');
    await eventually('it goes on', async () => (await feedOf(again))?.isRunning === true);
    await database.query(`insert into ${made.table} values ('after')`);
    await isAdded(again, 'after');
    await eventually('the gap is filled', async () => (await feedOf(again))?.behindBytes === 0);
    await close();
    await database.query(`insert into ${made.table} values ('taken')`);
    await database.query(
      `select count(*) from pg_logical_slot_get_binary_changes('${made.slot}', null, null, 'proto_version', '1', 'publication_names', 'pub_${made.table}')`,
    );
    const third = await start(made, {}, scans);
    await isAdded(third, 'taken');
    expect(events.filter(({ type }) => type === 'feed-gap')).toMatchObject([
      { reason: expect.stringContaining('is new') },
      { reason: expect.stringContaining('is new') },
      { reason: expect.stringContaining('somebody else') },
    ]);
  });

  it.each<[string, Partial<PostgresFeedOptions>, RegExp]>([
    ['a publication', { create: false }, /CREATE PUBLICATION/],
    ['a table', { table: 'nothing' }, /there is no table nothing/],
    ['a column', { column: 'nothing' }, /has no column/],
  ])('says what to do when there is no such thing: %s', async (_, options, message) => {
    const made = await table();
    await start(made, options);
    await eventually('an event', () => events.some(({ type }) => type === 'feed-failed'));
    const failed = events.find((event) => event.type === 'feed-failed') as { error: Error };
    expect(failed.error.message).toMatch(message);
  });

  it('says what to do when the publication hides rows, and when there is no slot', async () => {
    const filtered = await table();
    await database.query(
      `create publication pub_${filtered.table} for table ${filtered.table} where (id <> 'x')`,
    );
    const fewer = await table();
    await database.query(
      `create publication pub_${fewer.table} for table ${fewer.table} with (publish = 'delete')`,
    );
    const other = await table();
    await database.query(`create publication pub_${other.table} for table ${fewer.table}`);
    const slotless = await table();
    await database.query(`create publication pub_${slotless.table} for table ${slotless.table}`);
    for (const [made, message] of [
      [filtered, /row filter/],
      [fewer, /leaves out inserts or updates/],
      [other, /lacks the table/],
      [slotless, /pg_create_logical_replication_slot/],
    ] as const) {
      events = [];
      await start(made, { create: false });
      await eventually('an event', () => events.some(({ type }) => type === 'feed-failed'));
      const failed = events.find((event) => event.type === 'feed-failed') as { error: Error };
      expect(failed.error.message).toMatch(message);
      await close();
    }
  });

  it('refuses options that cannot work', () => {
    const good = { connection: 'postgres://x', table: 't', column: 'id', publication: 'p', slot: 's' };
    expect(() => postgresFeed({ ...good, slot: 'With-Dash' })).toThrow(/slot/);
    expect(() => postgresFeed({ ...good, publication: 'a"b' })).toThrow(/publication/);
    expect(() => postgresFeed({ ...good, table: '' })).toThrow(/table/);
    expect(() => postgresFeed(undefined as never)).toThrow(/connection/);
  });
});
