import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import knex, { type Knex } from 'knex';
import { type BloomEvent, type BloomFilter, BloomModule, BloomService } from 'nestjs-bloom';
import { fromKnex } from '@nestjs-bloom/knex';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';

/** Many connections, so that those of a test keep none from the source. */
const CONNECTIONS = 10;
const FAR = 1_000_000;

describe('An id far beyond the newest row of Postgres', () => {
  let server: PostgresServer;
  let database: Knex;
  let module: TestingModule;
  let filter: BloomFilter;
  let queries = 0;
  const events: BloomEvent[] = [];
  beforeAll(async () => {
    server = await requirePostgres();
    database = knex({ client: 'pg', connection: server.url, pool: { min: 0, max: CONNECTIONS } });
    database.on('query', () => queries++);
  });
  beforeEach(async () => {
    await server.run(
      'create table orders (id serial primary key); insert into orders select from generate_series(1, 300)',
    );
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature({
          name: 'orders',
          source: fromKnex(database, 'orders'),
          rebuild: { drainMs: 0 },
          topUp: { everyMs: 200, overlapMs: 100 },
          audit: false,
        }),
      ],
    });
    filter = module.get(BloomService).filter('orders');
    await eventually('it is covered', async () => (await filter.info()).outside?.mark !== undefined);
  });
  afterEach(async () => {
    await module?.close();
    await server.run('drop table orders');
    events.length = 0;
  });
  afterAll(async () => {
    await database?.destroy();
    await server?.stop();
  });

  const failures = () => events.filter(({ type }) => type === 'top-up-failed');
  const nextIs = (id: number) => server.run(`select setval('orders_id_seq', ${id}, false)`);

  it('is absent, and few questions serve very many', async () => {
    const asked = Array.from({ length: 5_000 }, (_, i) => FAR + i);
    // On a busy machine some answers come too late.
    await eventually('all are absent', async () => {
      queries = 0;
      const verdicts = [
        ...(await Promise.all(asked.map((id) => filter.check(id)))),
        ...(await filter.checkMany(asked)),
        await filter.check('99999999999999999999'),
      ];
      return verdicts.every((verdict) => verdict === 'absent');
    });
    expect(queries).toBeLessThan(100);
    expect(failures()).toEqual([]);
  });

  it('is never absent once its row is committed', async () => {
    const client = await database.client.acquireConnection();
    const ofNoRow: string[] = [];
    try {
      for (let at = 1; at <= 40; at++) {
        await nextIs(at * 5_000);
        const written = await client.query('insert into orders default values returning id');
        const [verdict, other] = await Promise.all([
          filter.check(written.rows[0].id),
          filter.check(at * 5_000 + 4_000),
        ]);
        expect(verdict).not.toBe('absent');
        ofNoRow.push(other);
      }
    } finally {
      await database.client.releaseConnection(client);
    }
    expect(ofNoRow).toContain('absent');
  });

  it('is unknown to a transaction that writes its row, whoever made the id, and to all others until that has ended', async () => {
    for (const end of ['rollback', 'commit'] as const) {
      const writer = await database.transaction();
      let verdict: Promise<string>;
      try {
        await writer.raw('insert into orders values (?)', [FAR]);
        expect(await filter.check(FAR)).toBe('unknown');
        expect(await filter.check(FAR + 1)).toBe('unknown');
        verdict = filter.check(FAR);
      } finally {
        await writer[end]();
      }
      if (end === 'commit') expect(await verdict).not.toBe('absent');
      await eventually('another one is absent', async () => (await filter.check(FAR + 1)) === 'absent');
    }
  });

  it('is unknown while the source cannot be read, which is an event', async () => {
    await server.run('alter table orders rename to hidden');
    try {
      expect(await filter.check(FAR)).toBe('unknown');
      expect(failures()).not.toEqual([]);
    } finally {
      await server.run('alter table hidden rename to orders');
    }
    await eventually('it is absent again', async () => (await filter.check(FAR)) === 'absent');
  });

  it('is unknown while no connection is free', async () => {
    const held = await Promise.all(Array.from({ length: CONNECTIONS }, () => database.transaction()));
    const verdict = await filter.check(FAR).finally(() => Promise.all(held.map((one) => one.rollback())));
    expect(verdict).toBe('unknown');
    await eventually('it is absent again', async () => (await filter.check(FAR)) === 'absent');
  });

  it('passes if it may be one of the next rows, without a question', async () => {
    expect(await filter.check(301)).toBe('unknown');
    expect(await filter.check(1_000)).toBe('unknown');
  });
});
