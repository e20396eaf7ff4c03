import { once } from 'node:events';
import { connect, createServer, type Server, type Socket, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { BloomId } from 'nestjs-bloom';
import { postgresCopy } from '../src/index.js';
import { eventually } from '../../../test/support/eventually.js';
import { type PostgresServer, requirePostgres } from '../../../test/support/postgres-server.js';
import { madeBy, readAll } from '../../../test/support/read-source.js';

/** A server that is ended while its client does not read may or may not get to say so. */
const ENDED = /terminat|ECONNRESET/;
/** More than the buffers of a connection hold. */
const ROWS = 1_000_000;

let server: PostgresServer;
let watching: pg.Client;
const pools: pg.Pool[] = [];
const proxies: Server[] = [];

beforeAll(async () => {
  server = await requirePostgres();
  watching = new pg.Client({ connectionString: server.url });
  await watching.connect();
  await server.run(`create table many (id bigint); insert into many select generate_series(1, ${ROWS});
    create view failing as select 100 / (500000 - id) as id from many`);
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await eventually('all connections have ended', async () => (await backends()) === 1);
  watching.on('error', () => {});
  await watching.end();
  for (const proxy of proxies) proxy.close();
  await server?.stop();
});

/** Without any listener for errors: one that nobody takes would end the process, and the test. */
function poolOf(connectionString = server.url): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1 });
  pools.push(pool);
  return pool;
}

function make(pool: pg.Pool, table = 'many') {
  return madeBy(postgresCopy({ pool, table, column: 'id', type: 'bigint' }));
}

/** Ids that are read, with what happens after the first ones. */
async function readUntil(
  pool: pg.Pool,
  signal: AbortSignal,
  then: (ids: AsyncIterator<BloomId | readonly BloomId[]>) => Promise<void>,
  made = make(pool),
): Promise<number> {
  const source = await made;
  let read = 0;
  const ids = source.ids({ signal })[Symbol.asyncIterator]();
  for (let batch = await ids.next(); !batch.done; batch = await ids.next()) {
    if (read === 0) await then(ids);
    read += (batch.value as readonly BloomId[]).length;
  }
  return read;
}

async function backends(): Promise<number> {
  const { rows } = await watching.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where backend_type = 'client backend'`,
  );
  return rows[0]!.n;
}

async function copiesRunning(): Promise<number> {
  const { rows } = await watching.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where query like 'copy%' and state <> 'idle'`,
  );
  return rows[0]!.n;
}

/** Passes bytes on, until it has passed so many of those of the server. */
async function cutAfter(bytes: number): Promise<string> {
  const target = new URL(server.url);
  const { hostname, port } = target;
  const proxy = createServer((client: Socket) => {
    const upstream = connect(Number(port), hostname);
    let passed = 0;
    client.pipe(upstream);
    upstream.on('data', (data) => {
      passed += data.length;
      client.write(data);
      if (passed <= bytes) return;
      client.end();
      upstream.destroy();
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  proxies.push(proxy);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  target.port = String((proxy.address() as AddressInfo).port);
  return target.href;
}

describe('postgresCopy', () => {
  it('reads every row of a large table', async () => {
    const ids = await readAll(await make(poolOf()));
    expect(ids.length).toBe(ROWS);
    expect(new Set(ids).size).toBe(ROWS);
  });

  it('fails when the server ends its connection in the middle, and does not harm the pool', async () => {
    const pool = poolOf();
    const reading = readUntil(pool, new AbortController().signal, async () => {
      await server.run(`select pg_terminate_backend(pid) from pg_stat_activity where query like 'copy%'`);
      await eventually('it has ended', async () => (await copiesRunning()) === 0);
    });
    await expect(reading).rejects.toThrow(ENDED);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('fails when the connection is cut in the middle', async () => {
    const pool = poolOf(await cutAfter(3_000_000));
    await expect(readAll(await make(pool))).rejects.toThrow(ENDED);
  });

  it('fails when a row cannot be read', async () => {
    const pool = poolOf();
    await expect(readAll(await make(pool, 'failing'))).rejects.toThrow('division by zero');
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('stops at the signal, and ends its connection', async () => {
    const pool = poolOf();
    const stopping = new AbortController();
    const reading = readUntil(pool, stopping.signal, async () => stopping.abort(new Error('enough')));
    await expect(reading).rejects.toThrow('enough');
    await eventually('the server has stopped', async () => (await copiesRunning()) === 0);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('ends its connection when it is read no further', async () => {
    const pool = poolOf();
    await readUntil(pool, new AbortController().signal, async (ids) => void (await ids.return?.()));
    await eventually('the server has stopped', async () => (await copiesRunning()) === 0);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('stops at the signal while the pool has no client for it, and takes none later', async () => {
    const pool = poolOf();
    const made = make(pool);
    await made;
    const client = await pool.connect();
    const stopping = new AbortController();
    const reading = readUntil(pool, stopping.signal, async () => {}, made);
    const refused = expect(reading).rejects.toThrow('enough');
    await eventually('it waits', () => pool.waitingCount === 1);
    stopping.abort(new Error('enough'));
    await refused;
    client.release();
    await eventually('the client is idle', () => pool.waitingCount === 0 && pool.idleCount === 1);
  });

  it('does not read ahead of whoever reads it', async () => {
    const pool = poolOf();
    const stopping = new AbortController();
    const reading = readUntil(pool, stopping.signal, async () => {
      await eventually('the server waits for its client', async () => {
        const { rows } = await watching.query(
          `select from pg_stat_activity where query like 'copy%' and wait_event = 'ClientWrite'`,
        );
        return rows.length === 1;
      });
    });
    expect(await reading).toBe(ROWS);
  });
});
