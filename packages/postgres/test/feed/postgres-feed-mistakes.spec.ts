import { describe, expect, it } from '@jest/globals';
import { postgresFeed, type PostgresFeedOptions } from '../../src/feed/index.js';
import { eventually } from '../../../../test/support/eventually.js';
import { PostgresFeedFixture } from '../../../../test/support/postgres-feed-fixture.js';

const site = PostgresFeedFixture.ofFile();

describe('The mistakes of postgresFeed', () => {
  it.each<[string, Partial<PostgresFeedOptions>, RegExp]>([
    ['a publication', { create: false }, /CREATE PUBLICATION/],
    ['a table', { table: 'nothing' }, /expected a table that this user sees, got "nothing"/],
    ['a column', { column: 'nothing' }, /has no column/],
  ])('says what to do when there is no such thing: %s', async (_, options, message) => {
    const made = await site.table();
    await site.feed(made, options);
    await eventually('an event', () => site.events.some(({ type }) => type === 'feed-failed'));
    expect(site.failure?.message).toMatch(message);
  });

  it('says what to do when the publication hides rows, and when there is no slot', async () => {
    const filtered = await site.table();
    await site.database.query(
      `create publication pub_${filtered.table} for table ${filtered.table} where (id <> 'x')`,
    );
    const fewer = await site.table();
    await site.database.query(
      `create publication pub_${fewer.table} for table ${fewer.table} with (publish = 'delete')`,
    );
    const other = await site.table();
    await site.database.query(`create publication pub_${other.table} for table ${fewer.table}`);
    const slotless = await site.table();
    await site.database.query(`create publication pub_${slotless.table} for table ${slotless.table}`);
    for (const [made, message] of [
      [filtered, /row filter/],
      [fewer, /leaves out inserts or updates/],
      [other, /lacks the table/],
      [slotless, /pg_create_logical_replication_slot/],
    ] as const) {
      site.events = [];
      await site.feed(made, { create: false });
      await eventually('an event', () => site.events.some(({ type }) => type === 'feed-failed'));
      expect(site.failure?.message).toMatch(message);
      await site.close();
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
