import { describe, expect, it } from '@jest/globals';
import type { BloomFilter } from 'nestjs-bloom';
import { eventually } from '../../../../test/support/eventually.js';
import { type FedTable, PostgresFeedFixture } from '../../../../test/support/postgres-feed-fixture.js';

const site = PostgresFeedFixture.ofFile();

const feedOf = async (filter: BloomFilter) => (await filter.info()).outside?.feed;
const isAdded = (filter: BloomFilter, id: string) =>
  eventually(`${id} is added`, async () => (await filter.check(id)) === 'maybe');

describe('postgresFeed', () => {
  it('adds what anybody commits, and nothing that is rolled back', async () => {
    const made = await site.table();
    const scans = { count: 0 };
    const filter = await site.feed(made, {}, scans);
    await site.hasBegun(filter);
    const before = scans.count;
    await site.database.query(`insert into ${made.table} select 'a' || i from generate_series(1, 2000) i`);
    await site.database.query(`begin; insert into ${made.table} values ('rolled-back'); rollback`);
    await site.insert(made, 'last');
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
    const made = await site.table();
    await site.database.query(`create table other_${made.table} (id text primary key)`);
    await site.database.query(
      `create publication pub_${made.table} for table ${made.table}, other_${made.table}`,
    );
    const filter = await site.feed(made);
    await site.hasBegun(filter);
    await site.database.query(`insert into ${made.table} values ('one', 'x')`);
    await site.database.query(`insert into other_${made.table} values ('foreign')`);
    await site.database.query(`update ${made.table} set id = 'renamed' where id = 'one'`);
    await site.database.query(
      `delete from ${made.table}; insert into ${made.table} values ('two'); truncate ${made.table}`,
    );
    await site.database.query(`insert into ${made.table} values ('three', repeat('long', 100000))`);
    await site.database.query(`update ${made.table} set note = note where id = 'three'`);
    await site.insert(made, 'last');
    await isAdded(filter, 'last');
    expect(await filter.checkMany(['one', 'renamed', 'two', 'three'])).toEqual(Array(4).fill('maybe'));
    expect(await filter.check('foreign')).toBe('absent');
  });

  it.each([true, false])('follows partitions, also of a publication that names them: %p', async (create) => {
    const name = site.name();
    const made: FedTable = { table: `shop.${name}`, filter: site.redis.name(), slot: `slot_${name}` };
    const publication = `pub_${name}`;
    await site.database.query(`create schema if not exists shop;
      create table ${made.table} (id int primary key) partition by range (id);
      create table ${made.table}_a partition of ${made.table} for values from (0) to (100)`);
    if (!create) await site.database.query(`create publication ${publication} for table ${made.table}`);
    const filter = await site.feed(made, { publication });
    await site.hasBegun(filter);
    await site.database.query(`insert into ${made.table} values (1);
      create table ${made.table}_b partition of ${made.table} for values from (100) to (200)`);
    await site.database.query(`insert into ${made.table} values (150)`);
    await isAdded(filter, '150');
    expect(await filter.check('1')).toBe('maybe');
  });

  it('goes on from its slot after it was stopped, without a rebuild', async () => {
    const made = await site.table();
    const scans = { count: 0 };
    const filter = await site.feed(made, {}, scans);
    await site.hasBegun(filter);
    const before = scans.count;
    await site.close();
    await site.insert(made, 'meanwhile');
    const again = await site.feed(made, {}, scans);
    await isAdded(again, 'meanwhile');
    expect(scans.count).toBe(before);
    expect(site.events.filter(({ type }) => type === 'feed-gap')).toHaveLength(1);
  });

  it('goes on when its connections are cut, and loses no row', async () => {
    const made = await site.table();
    const filter = await site.feed(made);
    await site.hasBegun(filter);
    let last = 0;
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 40; i++) await site.insert(made, `r${++last}`);
      await site.database.query(
        `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${made.slot}' and active`,
      );
    }
    await isAdded(filter, `r${last}`);
    const ids = Array.from({ length: last }, (_, i) => `r${i + 1}`);
    expect((await filter.checkMany(ids)).filter((verdict) => verdict !== 'maybe')).toEqual([]);
    expect(site.events.some(({ type }) => type === 'feed-failed')).toBe(true);
  });

  it('goes on when Postgres has crashed and is back', async () => {
    const made = await site.table();
    const scans = { count: 0 };
    const filter = await site.feed(made, {}, scans);
    await site.hasBegun(filter);
    const before = scans.count;
    for (let i = 0; i < 100; i++) await site.insert(made, `before-${i}`);
    await site.server.crash();
    await site.insert(made, 'after');
    await isAdded(filter, 'after');
    const ids = Array.from({ length: 100 }, (_, i) => `before-${i}`);
    expect((await filter.checkMany(ids)).filter((verdict) => verdict !== 'maybe')).toEqual([]);
    expect(scans.count).toBe(before);
  });

  it('ends with the application while Postgres waits for a transaction before it makes the slot', async () => {
    const made = await site.table();
    const open = await site.database.connect();
    await open.query(`begin; insert into ${made.table} values ('uncommitted')`);
    await site.feed(made);
    const waits = `select 1 from pg_stat_activity where query like '%pg_create_logical%' and pid <> pg_backend_pid() and wait_event is not null`;
    await eventually('the slot is waited for', async () => (await site.database.query(waits)).rowCount! > 0);
    await site.close();
    await open.query('rollback');
    open.release();
    expect(site.events.filter(({ type }) => type === 'feed-failed')).toEqual([]);
  });

  it('acknowledges nothing that was not added', async () => {
    const made = await site.table();
    const filter = await site.feed(made);
    await site.hasBegun(filter);
    await eventually('all is acknowledged', async () => (await feedOf(filter))?.behindBytes === 0);
    const client = site.redis.client();
    // Every write is refused.
    await client.config('SET', 'min-replicas-to-write', '1');
    await site.insert(made, 'unrecorded');
    await eventually('an event', () => site.events.some(({ type }) => type === 'feed-failed'));
    await client.config('SET', 'min-replicas-to-write', '0');
    await isAdded(filter, 'unrecorded');
  });

  it('is followed by one process of many, and another one takes over', async () => {
    const made = await site.table();
    const filters: BloomFilter[] = [];
    for (let i = 0; i < 3; i++) filters.push(await site.feed(made));
    await site.hasBegun(filters[0]!);
    const running = async () => (await Promise.all(filters.map(feedOf))).map((feed) => feed!.isRunning);
    await eventually('one follows', async () => (await running()).includes(true));
    expect((await running()).filter(Boolean)).toHaveLength(1);
    const at = (await running()).indexOf(true);
    await site.opened[at]!.close();
    site.opened.splice(at, 1);
    filters.splice(at, 1);
    await site.insert(made, 'later');
    await isAdded(filters[0]!, 'later');
  });

  it('rebuilds when its slot is gone, and when somebody else has read from it', async () => {
    const made = await site.table();
    const scans = { count: 0 };
    const filter = await site.feed(made, {}, scans);
    await site.hasBegun(filter);
    await site.close();
    await site.insert(made, 'lost-with-the-slot');
    await site.database.query(`select pg_drop_replication_slot('${made.slot}')`);
    const again = await site.feed(made, {}, scans);
    await isAdded(again, 'lost-with-the-slot');
    await eventually('it goes on', async () => (await feedOf(again))?.isRunning === true);
    await site.insert(made, 'after');
    await isAdded(again, 'after');
    await eventually('the gap is filled', async () => (await feedOf(again))?.behindBytes === 0);
    await site.close();
    await site.insert(made, 'taken');
    await site.readToEnd(made);
    const third = await site.feed(made, {}, scans);
    await isAdded(third, 'taken');
    expect(site.events.filter(({ type }) => type === 'feed-gap')).toMatchObject([
      { reason: expect.stringContaining('is new') },
      { reason: expect.stringContaining('is new') },
      { reason: expect.stringContaining('another program') },
    ]);
  });
});
