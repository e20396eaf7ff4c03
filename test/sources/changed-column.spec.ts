import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import knex, { type Knex } from 'knex';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomFeature,
  BloomModule,
  BloomService,
} from '../../src/index.js';
import { fromKnex } from '@nestjs-bloom/knex';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type PostgresServer, requirePostgres } from '../support/postgres-server.js';
import { RedisFixture } from '../support/redis-fixture.js';

const ROWS = Array.from({ length: 1000 }, (_, i) => `Code-${i}`);

let redis: RedisFixture;
let server: PostgresServer;
let database: Knex;
beforeAll(async () => {
  [redis, server] = await Promise.all([RedisFixture.start(), requirePostgres()]);
  database = knex({ client: 'pg', connection: server.url, pool: { min: 0 } });
  await server.run('create extension citext');
});
afterAll(async () => {
  await database?.destroy();
  await Promise.all([redis?.close(), server?.stop()]);
});

interface Application {
  readonly filter: BloomFilter;
  readonly events: readonly BloomEvent[];
  close(): Promise<void>;
}

/** The application, which builds a filter that it does not find. */
async function start(name: string, source: BloomFeature['source']): Promise<Application> {
  const events: BloomEvent[] = [];
  const module = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.server.url,
        owner: 'shop',
        ...PATIENT,
        onEvent: (event) => void events.push(event),
        filters: [{ name, capacity: 2000, errorRate: 1e-6, source, rebuild: { drainMs: 0 } }],
      }),
    ],
  });
  return { filter: module.get(BloomService).filter(name), events, close: () => module.close() };
}

const isReady = ({ filter }: Application) =>
  eventually('the filter is ready', async () => (await filter.info()).state === 'ready');

async function makeTable(table: string, type: string): Promise<void> {
  await server.run(
    `create table ${table} (no serial primary key, code ${type} not null unique);
     insert into ${table} (code) select 'Code-' || i from generate_series(0, ${ROWS.length - 1}) i`,
  );
}

/** A source of the application's own: it knows nothing of the column. */
function ownSource(table: string): BloomFeature['source'] {
  return {
    async *ids() {
      const { rows } = await database.raw<{ rows: { code: string }[] }>(`select code from ${table}`);
      yield rows.map(({ code }) => code);
    },
  };
}

const CHANGES: [
  string,
  (table: string) => Promise<BloomFeature['source']>,
  (table: string) => Promise<BloomFeature['source']>,
][] = [
  [
    'whose column became citext',
    async (table) => {
      await makeTable(table, 'text');
      return fromKnex(database, table, 'code');
    },
    async (table) => {
      await server.run(`alter table ${table} alter column code type citext`);
      return fromKnex(database, table, 'code');
    },
  ],
  [
    'whose source knows since then that the column ignores case',
    async (table) => {
      await makeTable(table, 'citext');
      return ownSource(table);
    },
    async (table) => fromKnex(database, table, 'code'),
  ],
];

describe.each(CHANGES)('A filter %s', (_, before, after) => {
  it('denies none of its rows after the restart', async () => {
    const name = redis.name();
    const table = name.replaceAll('-', '_');
    const old = await start(name, await before(table));
    await isReady(old);
    expect(new Set(await old.filter.checkMany(ROWS))).toEqual(new Set(['maybe']));
    await old.close();

    const restarted = await start(name, await after(table));
    for (let look = 0; look < 20; look++) {
      const verdicts = await restarted.filter.checkMany(ROWS);
      expect(verdicts.filter((verdict) => verdict === 'absent')).toHaveLength(0);
    }
    await isReady(restarted);
    const found = await restarted.filter.checkMany([...ROWS, 'CODE-7', 'code-8']);
    expect(new Set(found)).toEqual(new Set(['maybe']));
    expect(await restarted.filter.check('code-of-nobody')).toBe('absent');
    const reasons = restarted.events.filter((event) => event.type === 'state-changed');
    expect(reasons[0]).toMatchObject({
      state: 'suspect',
      reason: expect.stringMatching(
        /^The process that built this filter has another normalize than this one/,
      ),
    });
    await restarted.close();
  });
});
