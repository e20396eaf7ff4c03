import { afterEach, describe, expect, it } from '@jest/globals';
import type { BloomFilter, BloomId } from 'nestjs-bloom';
import { eventually } from '../../../../test/support/eventually.js';
import { type FedTable, PostgresFeedFixture } from '../../../../test/support/postgres-feed-fixture.js';

const site = PostgresFeedFixture.ofFile();

const sql = (text: string) => site.database.query(text);
const isAdded = (filter: BloomFilter, id: BloomId) =>
  eventually(`${String(id)} is added`, async () => (await filter.check(id)) === 'maybe');
const gaps = () => site.events.flatMap((event) => (event.type === 'feed-gap' ? [event.reason] : []));
const gapsAre = (count: number) => eventually(`gaps are ${count}`, () => gaps().length === count);

/** A table that is followed, without a gap: its filter goes by the log alone. */
async function followed(made: FedTable): Promise<BloomFilter> {
  const filter = await site.feed(made);
  await site.hasBegun(filter);
  site.events = [];
  return filter;
}

async function partitioned(): Promise<FedTable> {
  const table = site.name();
  await sql(`create table ${table} (id int primary key) partition by range (id);
    create table ${table}_a partition of ${table} for values from (0) to (100);
    create table ${table}_b (id int primary key); insert into ${table}_b values (150)`);
  return { table, filter: site.redis.name(), slot: `slot_${table}` };
}

const attach = ({ table }: FedTable) =>
  sql(`alter table ${table} attach partition ${table}_b for values from (100) to (200)`);

describe('The ids of postgresFeed', () => {
  afterEach(() => sql('alter database postgres reset all'));

  it.each(['bytea', 'bytes', 'more_bytes'])('are bytes, however a session writes them: %s', async (type) => {
    await sql(`drop domain if exists bytes cascade; create domain bytes as bytea;
      create domain more_bytes as bytes check (octet_length(value) > 0)`);
    await sql(`alter database postgres set bytea_output = 'escape'`);
    const made = await site.table(`id ${type}`);
    const filter = await followed(made);
    const id = Buffer.from([0x00, 0xff, 0x5c, 0x41]);
    await sql(`insert into ${made.table} values ('\\x00ff5c41')`);
    await isAdded(filter, id);
    expect(await filter.check(Buffer.from([0x00, 0xff, 0x5c]))).toBe('absent');
  });

  it.each(['timestamptz', 'date', 'interval', 'float8', 'money', 'regclass', 'int4range', 'date[]'])(
    'are refused where their text depends on the session: %s',
    async (type) => {
      const made = await site.table(`id ${type}`);
      await site.feed(made);
      await eventually('the feed fails', () => site.failure !== undefined);
      expect(site.failure!.message).toMatch(/is of type .+, whose text depends on settings of each session/);
    },
  );

  it('may be of a table with a name of capitals, as the catalog has it', async () => {
    const name = `Product${site.name()}`;
    await sql(`create table "${name}" (id text primary key)`);
    for (const table of [name, `"${name}"`, `public.${name}`]) {
      const slot = `slot_${site.name()}`;
      const made = { table: `"${name}"`, filter: site.redis.name(), slot };
      const filter = await site.feed(made, { table, publication: `pub_${slot}` });
      await site.hasBegun(filter);
      await site.insert(made, slot);
      await isAdded(filter, slot);
    }
  });
});

describe('A table of postgresFeed', () => {
  it.each<[string, (name: string) => string, RegExp]>([
    [
      'a generated column',
      (name) => `create table ${name} (n int, id text generated always as ('x') stored)`,
      /generated/,
    ],
    ['a view', (name) => `create view ${name} as select 1 as id`, /a view, a foreign table or unlogged/],
    [
      'an unlogged partition',
      (name) => `create table ${name} (id int) partition by range (id);
        create unlogged table ${name}_a partition of ${name} for values from (0) to (100)`,
      /got t\d+_a, which/,
    ],
  ])('is refused where the log does not have its rows: %s', async (_, creation, message) => {
    const table = site.name();
    await sql(creation(table));
    await site.feed({ table, filter: site.redis.name(), slot: `slot_${table}` });
    await eventually('the feed fails', () => site.failure !== undefined);
    expect(site.failure!.message).toMatch(message);
  });

  it('gets the rows of a partition that is attached, and no rebuild for one that is new', async () => {
    const made = await partitioned();
    const filter = await followed(made);
    await sql(`create table ${made.table}_c partition of ${made.table} for values from (200) to (300)`);
    await attach(made);
    await isAdded(filter, 150);
    expect(gaps()).toEqual([expect.stringContaining(`${made.table}_b`)]);
    await sql(`insert into ${made.table} values (250), (151)`);
    await isAdded(filter, 250);
    await isAdded(filter, 151);
    expect(gaps()).toHaveLength(1);
  });

  it('gets the rows of a partition that was attached while nobody followed', async () => {
    const made = await partitioned();
    await followed(made);
    await site.forget();
    await attach(made);
    const filter = await site.feed(made);
    await isAdded(filter, 150);
    expect(gaps()).toEqual([expect.stringContaining('is not what it was')]);
  });

  it('gets the rows of a child that was there before it inherits, when the publication has it', async () => {
    const made = await site.table();
    await sql(
      `create table ${made.table}_child (id text primary key, note text); insert into ${made.table}_child values ('old')`,
    );
    const filter = await followed(made);
    await sql(`alter table ${made.table}_child inherit ${made.table}`);
    await eventually('the feed fails', () => site.failure !== undefined);
    expect(site.failure!.message).toContain(`ADD TABLE ${made.table}_child;`);
    await sql(`insert into ${made.table}_child values ('unpublished')`);
    await sql(`alter publication pub_${made.table} add table ${made.table}_child`);
    for (const id of ['old', 'unpublished']) await isAdded(filter, id);
    await sql(`insert into ${made.table}_child values ('published')`);
    await isAdded(filter, 'published');
  });

  it('gets the rows of a table that takes its name', async () => {
    const made = await site.table();
    const other = await site.table();
    await sql(`create publication pub_${made.table} for table ${made.table}, ${other.table}`);
    await site.insert(other, 'before');
    const filter = await followed(made);
    await sql(
      `begin; alter table ${made.table} rename to ${made.table}_old; alter table ${other.table} rename to ${made.table}; commit`,
    );
    await site.insert(made, 'after');
    for (const id of ['before', 'after']) await isAdded(filter, id);
    await sql(`insert into ${made.table}_old values ('elsewhere')`);
    await site.insert(made, 'last');
    await isAdded(filter, 'last');
    expect(await filter.check('elsewhere')).toBe('absent');
  });

  it('gets the values of a column that takes the name of another one, or is written anew', async () => {
    const made = await site.table('id text, next_id text');
    const filter = await followed(made);
    await sql(`insert into ${made.table} values ('one', 'uno')`);
    await isAdded(filter, 'one');
    await sql(
      `begin; alter table ${made.table} rename id to last_id; alter table ${made.table} rename next_id to id; commit`,
    );
    await isAdded(filter, 'uno');
    await gapsAre(1);
    await sql(`alter table ${made.table} alter id type text using upper(id)`);
    await isAdded(filter, 'UNO');
    await gapsAre(2);
    for (const statement of ['alter table T add other int', 'analyze T', 'vacuum full T'])
      await sql(statement.replace('T', made.table));
    await sql(`insert into ${made.table} (id) values ('last')`);
    await isAdded(filter, 'last');
    expect(gaps()).toHaveLength(2);
  });

  it('gets the rows that were committed while the publication lacked it', async () => {
    const made = await site.table();
    const filter = await followed(made);
    await site.close();
    await sql(`alter publication pub_${made.table} drop table ${made.table}`);
    await site.insert(made, 'unpublished');
    await sql(`alter publication pub_${made.table} add table ${made.table}`);
    const again = await site.feed(made);
    await isAdded(again, 'unpublished');
    expect(gaps()).toHaveLength(1);
    expect(filter.name).toBe(again.name);
  });
});
