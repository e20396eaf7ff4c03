import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import knex, { type Knex } from 'knex';
import type { BloomIdSource, BloomOpenTransactions } from 'nestjs-bloom';
import { fromKnex } from '@nestjs-bloom/knex';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';
import { madeBy } from '../support/read-source.js';

describe('The open transactions of a source of Postgres', () => {
  let server: PostgresServer;
  let database: Knex;
  let source: BloomIdSource;
  beforeAll(async () => {
    server = await requirePostgres({
      settings: ['fsync=off', 'max_prepared_transactions=2', 'wal_level=logical'],
    });
    database = knex({
      client: 'pg',
      connection: server.url,
      pool: { min: 0, max: 5 },
      log: { warn: () => {} },
    });
    await server.run('create table orders (id bigserial primary key)');
    source = await madeBy(fromKnex(database, 'orders', 'id', { order: 'id' }));
  });
  beforeEach(() => server.run('insert into orders default values'));
  afterAll(async () => {
    await database?.destroy();
    await server?.stop();
  });

  const look = async () => (await source.openTransactions!())!;
  const hasEnded = ({ next }: BloomOpenTransactions, { oldest }: BloomOpenTransactions) => oldest >= next;

  it('are none when all have ended, and looking opens none', async () => {
    const [first, second] = [await look(), await look()];
    expect([hasEnded(first, first), second]).toEqual([true, first]);
  });

  it('are those that write, from their first write to their end', async () => {
    const before = await look();
    const one = await database.transaction();
    await one.raw('select 1');
    expect(hasEnded(before, await look())).toBe(true);
    await one.raw('insert into orders default values');
    const open = await look();
    expect(open.next).toBe(before.next + 1n);
    await server.run('insert into orders default values');
    expect([hasEnded(before, await look()), hasEnded(open, await look())]).toEqual([true, false]);
    await one.commit();
    expect(hasEnded(open, await look())).toBe(true);
  });

  it('are all of those, also one that began to write after the last one that has ended', async () => {
    const late = await database.transaction();
    // Its id comes before one that is visible, and its number after.
    const [{ id }] = (await late.raw(`select nextval('orders_id_seq') as id`)).rows;
    await server.run('insert into orders default values');
    await late.raw('insert into orders values (?)', [id]);
    const open = await look();
    // A snapshot alone says that none is open below its own upper bound.
    expect(open.oldest).toBe(open.next - 1n);
    expect(hasEnded(open, await look())).toBe(false);
    await late.rollback();
    expect(hasEnded(open, await look())).toBe(true);
  });

  it('are also subtransactions, and prepared ones, of which no connection knows', async () => {
    const one = await database.transaction();
    await one.raw(
      'savepoint a; insert into orders default values; savepoint b; insert into orders default values',
    );
    const open = await look();
    await one.raw('release savepoint b');
    expect(hasEnded(open, await look())).toBe(false);
    await one.raw(`prepare transaction 'later'`);
    await one.commit().catch(() => {});
    expect(hasEnded(open, await look())).toBe(false);
    await server.run(`commit prepared 'later'`);
    expect(hasEnded(open, await look())).toBe(true);
  });

  it('are of another run when the server has begun again', async () => {
    const { server: before } = await look();
    await server.crash();
    const after = await look();
    expect(after.server).not.toBe(before);
    expect(hasEnded(after, after)).toBe(true);
  });

  it('are not known of a view and a foreign table, whose rows others may write', async () => {
    await server.run(`
      create view seen as select id, 1 as a from orders;
      create foreign data wrapper nothing;
      create server nowhere foreign data wrapper nothing;
      create foreign table far (id bigserial, a int) server nowhere;
      create table parts (id bigserial primary key, a int) partition by range (id);
      create table near_part partition of parts for values from (0) to (100)`);
    const tells = async (table: string) => {
      const made = await madeBy(fromKnex(database, table, 'id', { order: 'id', key: ['id', 'a'] }));
      return made.openTransactions !== undefined;
    };
    expect([await tells('seen'), await tells('far'), await tells('parts')]).toEqual([false, false, true]);
  });

  it('are not known of a table that a subscription writes, whose ids are in no order', async () => {
    await server.run(`
      create table copied (id bigserial primary key) partition by range (id);
      create table copied_part partition of copied for values from (0) to (100)`);
    const isOrdered = async () => {
      const made = await madeBy(fromKnex(database, 'copied', 'id', { order: 'id' }));
      return [typeof made.idOrder, made.openTransactions !== undefined];
    };
    expect(await isOrdered()).toEqual(['string', true]);
    await server.run('create database publisher');
    const url = server.url.replace(/[^/]*$/, 'publisher');
    const publisher = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
    await publisher.raw('create table copied_part (id bigserial primary key)');
    await publisher.raw('create publication p for table copied_part');
    await publisher.destroy();
    await server.run(
      `create subscription s connection '${url}' publication p with (create_slot = false, enabled = false, slot_name = none)`,
    );
    expect(await isOrdered()).toEqual(['object', false]);
    await server.run('drop subscription s');
    expect(await isOrdered()).toEqual(['string', true]);
  });

  it('are not known of a standby', async () => {
    const replica = await madeBy(fromKnex(database, 'orders', 'id', { order: 'id', fromReplica: true }));
    expect(replica.openTransactions).toBeUndefined();
  });
});
