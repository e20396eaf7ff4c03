import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import pg from 'pg';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomIdSource,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { postgresFeed, type PostgresFeedOptions } from '@nestjs-bloom/postgres/feed';
import { BrokenLibrary, type Cut } from './broken-library.js';
import { eventually } from './eventually.js';
import { startContext } from './nest-app.js';
import { PATIENT } from './patience.js';
import { type PostgresServer, requirePostgres } from './postgres-server.js';
import { RedisFixture } from './redis-fixture.js';
import { outsideKey } from './outside-key.js';

/** Waits of a second that no test is about, a tenth as long. */
const PACE: Readonly<Record<string, Cut>> = {
  look: {
    file: 'packages/postgres/src/feed/replication.ts',
    from: 'const LOOK_EVERY_MS = 1000;',
    to: 'const LOOK_EVERY_MS = 100;',
  },
  pause: {
    file: 'src/service/freshness/change-feed-runner.ts',
    from: 'const FIRST_PAUSE_MS = 1000;',
    to: 'const FIRST_PAUSE_MS = 100;',
  },
  turn: {
    file: 'src/service/freshness/freshness.ts',
    from: 'const EVERY_MS = 1000;',
    to: 'const EVERY_MS = 100;',
  },
  missing: {
    file: 'src/service/freshness/missing-mark.ts',
    from: 'const MISSING_MS = 1000;',
    to: 'const MISSING_MS = 100;',
  },
};

export interface FedTable {
  readonly table: string;
  readonly filter: string;
  readonly slot: string;
}

/** How often the source was read, and what each reading waits for when it has the rows. */
export interface Scans {
  count: number;
  readonly onRead?: () => Promise<void>;
}

/** Tables whose rows reach filters through Postgres' log. */
export class PostgresFeedFixture {
  readonly opened: TestingModule[] = [];
  events: BloomEvent[] = [];
  /** A copy of the library that waits less, and of which rules can be taken out. */
  copy!: BrokenLibrary;
  private library = { BloomModule, BloomService, postgresFeed };
  server!: PostgresServer;
  redis!: RedisFixture;
  database!: pg.Pool;
  private named = 0;

  private constructor() {}

  /**
   * One for the tests of the file that calls this: it starts before them, has no applications and no events
   * when one begins, and ends after them.
   *
   * @param rules that can be taken out
   */
  static ofFile(rules: Readonly<Record<string, Cut>> = {}): PostgresFeedFixture {
    const site = new PostgresFeedFixture();
    beforeAll(() => site.start(rules));
    afterEach(() => site.forget());
    afterAll(() => site.end());
    return site;
  }

  /** Stops the applications. */
  async close(): Promise<void> {
    await Promise.all(this.opened.splice(0).map((module) => module.close()));
  }

  /** Stops the applications, and forgets what they have reported. */
  async forget(): Promise<void> {
    await this.close();
    this.events = [];
  }

  /** A name that no other table has. */
  name(): string {
    return `t${++this.named}`;
  }

  async table(columns = 'id text primary key, note text'): Promise<FedTable> {
    const name = this.name();
    await this.database.query(`create table ${name} (${columns})`);
    return { table: name, filter: this.redis.name(), slot: `slot_${name}` };
  }

  async insert({ table }: FedTable, id: string): Promise<void> {
    await this.database.query(`insert into ${table} values ('${id}')`);
  }

  /** As somebody does who reads from a slot that is not his. */
  async readToEnd({ slot, table }: FedTable): Promise<void> {
    await this.database.query(
      `select count(*) from pg_logical_slot_get_binary_changes('${slot}', null, null, 'proto_version', '1', 'publication_names', 'pub_${table}')`,
    );
  }

  async feed(
    made: FedTable,
    options: Partial<PostgresFeedOptions> = {},
    scans: Scans = { count: 0 },
  ): Promise<BloomFilter> {
    const { BloomModule: Bloom, BloomService: Service, postgresFeed: feedOf } = this.library;
    const module = await startContext({
      imports: [
        Bloom.forRoot({
          redis: this.redis.server.url,
          ...PATIENT,
          onEvent: (event) => this.events.push(event),
        }),
        Bloom.forFeature([
          {
            name: made.filter,
            // Room for the ids of every test: none of those that are to be absent passes by chance.
            capacity: 10_000,
            errorRate: 1e-6,
            source: this.sourceOf(made, scans),
            rebuild: { drainMs: 1, minRatio: 0, leaseMs: 500 },
            feed: feedOf({
              connection: this.server.url,
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
    this.opened.push(module);
    return module.get(Service).filter(made.filter);
  }

  /** Resolves when what was missed is in the filter, and from here on it goes by the log alone. */
  hasBegun(filter: BloomFilter): Promise<void> {
    return eventually('the feed has noted a position', async () => {
      const { failure } = this;
      if (failure) throw failure;
      const client = this.redis.client();
      return (await client.hget(await outsideKey(client, filter.name), 'position')) !== null;
    });
  }

  get failure(): Error | undefined {
    const failed = this.events.find((event) => event.type === 'feed-failed');
    return (failed as { error: Error } | undefined)?.error;
  }

  private async start(rules: Readonly<Record<string, Cut>>): Promise<void> {
    this.copy = BrokenLibrary.open({ ...rules, ...PACE }, 'postgres');
    this.library = {
      ...(await this.copy.load<typeof import('nestjs-bloom')>('src/index.ts')),
      ...(await this.copy.load<typeof import('@nestjs-bloom/postgres/feed')>(
        'packages/postgres/src/feed/index.ts',
      )),
    };
    this.server = await requirePostgres({
      settings: ['wal_level=logical', 'fsync=off', 'max_wal_senders=50', 'max_replication_slots=200'],
    });
    this.database = new pg.Pool({ connectionString: this.server.url });
    this.database.on('error', () => {});
    this.redis = await RedisFixture.start();
  }

  private async end(): Promise<void> {
    await this.database?.end();
    await this.redis?.close();
    await this.server?.stop();
    this.copy?.close();
  }

  /** All rows; counts how often they were read. */
  private sourceOf({ table }: FedTable, scans: Scans): BloomIdSource {
    const { database } = this;
    return {
      ids: async function* () {
        scans.count++;
        const { rows } = await database.query<{ id: string }>(`select id::text from ${table}`);
        await scans.onRead?.();
        yield rows.map(({ id }) => id);
      },
    };
  }
}
