import { afterEach, describe, expect, it } from '@jest/globals';
import type { BloomFilter } from 'nestjs-bloom';
import { eventually } from '../../../../test/support/eventually.js';
import { type FedTable, PostgresFeedFixture } from '../../../../test/support/postgres-feed-fixture.js';
import { TcpProxy } from '../../../../test/support/tcp-proxy.js';
import { FEED_RULES } from './feed-rules.js';
import { outsideKey } from '../../../../test/support/outside-key.js';

const site = PostgresFeedFixture.ofFile(FEED_RULES);
afterEach(() => site.copy.take(undefined));

const LATE = 'late';
const OTHER_SERVER = '1-1';

const outsideOf = ({ filter }: FedTable) => outsideKey(site.redis.client(), filter);

/** Waits until the server has noticed that the reader of the slot has left. */
async function dropSlot({ slot }: FedTable): Promise<void> {
  const active = `select from pg_replication_slots where slot_name = '${slot}' and active`;
  await eventually('the slot is free', async () => (await site.database.query(active)).rowCount === 0);
  await site.database.query(`select pg_drop_replication_slot('${slot}')`);
}

/** A filter that was fed, and is not followed now. */
async function fedBefore(): Promise<FedTable> {
  const made = await site.table();
  tables.set(made.filter, made);
  await site.insert(made, 'first');
  await site.hasBegun(await site.feed(made));
  await site.forget();
  return made;
}

/** The row 'late' comes with a child that it was in before: it is in no log. */
async function inherit({ table }: FedTable): Promise<void> {
  await site.database
    .query(`begin; create table child_${table} (like ${table}); insert into child_${table} values ('${LATE}');
    alter publication pub_${table} add table child_${table}; alter table child_${table} inherit ${table}; commit`);
}

/** A transaction that is open: no slot is created before it ends. */
async function openTransaction(): Promise<() => Promise<void>> {
  const client = await site.database.connect();
  await client.query('begin; select pg_current_xact_id()');
  return async () => {
    await client.query('commit');
    client.release();
  };
}

const slotIsAwaited = () => {
  const waits = `select 1 from pg_stat_activity where query like '%pg_create_logical%' and pid <> pg_backend_pid() and wait_event is not null`;
  return eventually('the slot is waited for', async () => (await site.database.query(waits)).rowCount! > 0);
};

async function behindProxy<Result>(
  use: (proxy: TcpProxy, connection: string) => Promise<Result>,
): Promise<Result> {
  const { hostname, port, pathname } = new URL(site.server.url);
  const proxy = await TcpProxy.open({ host: hostname, port: Number(port) });
  try {
    return await use(proxy, `postgres://test@127.0.0.1:${proxy.port}${pathname}?application_name=late`);
  } finally {
    await proxy.close();
  }
}

/** Every write to the filter is refused meanwhile, and a place can be noted. */
async function whileAddsFail(made: FedTable, work: () => Promise<void>): Promise<void> {
  const admin = site.redis.client();
  await admin.call(
    'ACL',
    'SETUSER',
    'default',
    'resetkeys',
    '%R~*',
    '~*:meta',
    `~bloom:{${made.filter}}:outside*`,
  );
  try {
    await work();
  } finally {
    await admin.call('ACL', 'SETUSER', 'default', 'resetkeys', '~*');
  }
}

const feedFails = () => eventually('the feed fails', () => site.failure !== undefined);

/**
 * Resolves when the feed has told Postgres so many times from now on that it lives, and asked for an answer.
 * It does so once it has compared the slot again.
 */
async function heartbeats(count: number): Promise<void> {
  const asks = `select reply_time::text as at from pg_stat_replication where application_name = 'late'`;
  const lastReply = async () => (await site.database.query<{ at: string | null }>(asks)).rows[0]?.at ?? null;
  let last = await lastReply();
  for (let heard = 0; heard < count; heard++) {
    await eventually('a heartbeat', async () => {
      const at = await lastReply();
      const isNew = at !== null && at !== last;
      if (isNew) last = at;
      return isNew;
    });
  }
}

const tables = new Map<string, FedTable>();
/** The table of a filter. */
const fedAs = ({ name }: BloomFilter) => tables.get(name)!;

/** Up to where the log has been flushed: a feed gets nothing beyond, and what was committed is before. */
async function endOfLog(): Promise<string> {
  const { rows } = await site.database.query<{ end: string }>(
    'select pg_current_wal_flush_lsn()::text as "end"',
  );
  return rows[0]!.end;
}

/** Resolves when Postgres may forget what lies before this place. */
function isConfirmed({ slot }: FedTable, end: string): Promise<void> {
  const ask =
    'select confirmed_flush_lsn >= $2::pg_lsn as "is" from pg_replication_slots where slot_name = $1';
  return eventually(`the place ${end} is confirmed`, async () => {
    return (await site.database.query<{ is: boolean }>(ask, [slot, end])).rows[0]!.is;
  });
}

/** Resolves when the feed has noted this place, or a later one. */
function hasNoted(made: FedTable, end: string): Promise<void> {
  return eventually(`the place ${end} is noted`, async () => {
    const noted = await site.redis.client().hget(await outsideOf(made), 'position');
    const [lsn, server] = (noted ?? '0/0').split(' ');
    if (server === OTHER_SERVER) return false;
    const ask = 'select $1::pg_lsn >= $2::pg_lsn as "is"';
    return (await site.database.query<{ is: boolean }>(ask, [lsn, end])).rows[0]!.is;
  });
}

/** Each ends with a filter that is fed, and to which the row 'late' was committed before. */
const SCENARIOS: Record<string, () => Promise<BloomFilter>> = {
  'no-position': async () => {
    const made = await fedBefore();
    await site.insert(made, LATE);
    await site.readToEnd(made);
    await site.redis.client().hdel(await outsideOf(made), 'position');
    return site.feed(made);
  },

  'same-server': async () => {
    const made = await fedBefore();
    await site.insert(made, LATE);
    await site.readToEnd(made);
    const noted = await site.redis.client().hget(await outsideOf(made), 'position');
    const position = noted!.replace(/^\S+ \S+/, `FFFFFFFF/0 ${OTHER_SERVER}`);
    await site.redis.client().hset(await outsideOf(made), 'position', position);
    return site.feed(made);
  },

  'slot-ahead': async () => {
    const made = await fedBefore();
    await site.insert(made, LATE);
    await site.readToEnd(made);
    return site.feed(made);
  },

  'look-again': async () => {
    const made = await fedBefore();
    return behindProxy(async (proxy, connection) => {
      proxy.holdOnly('START_REPLICATION');
      await site.feed(made, { connection });
      const asks = `select 1 from pg_stat_activity where backend_type = 'walsender' and application_name = 'late'`;
      await eventually('the slot was looked at', async () => (await site.database.query(asks)).rowCount! > 0);
      await site.insert(made, LATE);
      await site.readToEnd(made);
      const end = await endOfLog();
      proxy.release();
      await hasNoted(made, end);
      await site.close();
      return site.feed(made);
    });
  },

  'table-noted': async () => {
    const made = await fedBefore();
    await inherit(made);
    return site.feed(made);
  },

  'table-looked-at': async () => {
    const made = await fedBefore();
    const filter = await site.feed(made);
    await eventually('it runs', async () => (await filter.info()).outside!.feed!.isRunning);
    await inherit(made);
    // The feed looks at the table when it reads of a relation that it does not know.
    await site.database.query(`insert into child_${made.table} values ('seen')`);
    await eventually('the child is followed', async () => (await filter.check('seen')) === 'maybe');
    return filter;
  },

  'listen-first': async () => {
    const made = await fedBefore();
    await dropSlot(made);
    const end = await openTransaction();
    const scans = { count: 0 };
    const filter = await site.feed(made, {}, scans);
    await slotIsAwaited();
    // Without the rule a rebuild has begun by now, and ends.
    if (site.events.some(({ type }) => type === 'feed-gap'))
      await eventually('it was rebuilt', () => site.events.some(({ type }) => type === 'rebuild-finished'));
    await site.insert(made, LATE);
    await end();
    return filter;
  },

  'new-run': async () => {
    const made = await fedBefore();
    await dropSlot(made);
    const end = await openTransaction();
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isRead = false;
    const onRead = () => {
      isRead = true;
      return gate;
    };
    const filter = await site.feed(made, {}, { count: 0, onRead });
    await slotIsAwaited();
    const run = filter.rebuild();
    await eventually('the source is read', () => isRead);
    await site.insert(made, LATE);
    await end();
    await eventually('a gap is found', () => site.events.some(({ type }) => type === 'feed-gap'));
    open();
    await run;
    return filter;
  },

  'gap-holds': async () => {
    const made = await fedBefore();
    await site.insert(made, LATE);
    await dropSlot(made);
    let end: () => void = () => {};
    const gate = new Promise<void>((_, reject) => (end = () => reject(new Error('The database is down.'))));
    gate.catch(() => {});
    const filter = await site.feed(made, {}, { count: 0, onRead: () => gate });
    const feed = async () => (await filter.info()).outside!.feed!;
    await eventually('the feed runs', async () => (await feed()).isRunning);
    await site.insert(made, 'after');
    await eventually(
      'what comes after the gap is added',
      async () => (await filter.check('after')) === 'maybe',
    );
    if (site.copy.taken) await hasNoted(made, await endOfLog());
    end();
    await site.close();
    return site.feed(made);
  },

  'add-before-save': failedAdd,
  'end-on-failure': failedAdd,

  'heartbeat-caught-up': async () => {
    const made = await fedBefore();
    return behindProxy(async (proxy, connection) => {
      await site.feed(made, { connection });
      await heartbeats(1);
      await whileAddsFail(made, async () => {
        // The feed reads no heartbeat while it handles a row: one has to come in one piece with the row.
        proxy.holdReplies();
        await site.insert(made, LATE);
        const end = await endOfLog();
        // The answer to the second one, at the latest, has the end of the row, and has come by the third.
        await heartbeats(3);
        proxy.release();
        if (site.copy.taken) await isConfirmed(made, end);
        else await feedFails();
        await site.close();
      });
      return site.feed(made);
    });
  },
};

async function failedAdd(): Promise<BloomFilter> {
  const made = await fedBefore();
  const filter = await site.feed(made);
  await eventually('it runs', async () => (await filter.info()).outside!.feed!.isRunning);
  await whileAddsFail(made, async () => {
    await site.insert(made, LATE);
    if (site.copy.taken) await hasNoted(made, await endOfLog());
    else await feedFails();
  });
  return filter;
}

/** What the filter says of the row when the feed is behind nothing. */
async function verdictAfter(rule: string, taken: string | undefined): Promise<string> {
  site.copy.take(taken);
  const filter = await SCENARIOS[rule]!();
  const made = fedAs(filter);
  await site.insert(made, 'end');
  await hasNoted(made, await endOfLog());
  // Without a rule this row may be missed as well.
  if (taken === undefined) expect(await filter.check('end')).toBe('maybe');
  return filter.check(LATE);
}

describe.each(Object.keys(SCENARIOS))('The rule of feeds %s', (rule) => {
  it('keeps the promise', async () => {
    expect(await verdictAfter(rule, undefined)).toBe('maybe');
  });

  it('is needed: without it a row that was committed is "absent"', async () => {
    expect(await verdictAfter(rule, rule)).toBe('absent');
  });
});

it('has a scenario for each rule that is taken out', () => {
  expect(Object.keys(SCENARIOS)).toEqual(Object.keys(FEED_RULES));
});
