import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { eventually } from '../../test/support/eventually.js';
import { forkProgram } from '../../test/support/forked-program.js';
import { type PostgresServer, requirePostgres } from '../../test/support/postgres-server.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { GOODS, ORDERS, OutsideShop, OVERLAP_MS, SLOT } from './outside-shop.js';
import type { RedisSite } from './redis-site.js';

const PROCESS = fileURLToPath(new URL('outside-process.ts', import.meta.url));
const WRITERS = 4;
const HELD_MS = 60;
const RECENT = 64;
/**
 * For what a feed has missed to come: a process takes over, a connection is found to lead nowhere, pauses, a
 * rebuild.
 */
const CATCH_UP_MS = 150_000;
const SETTINGS = ['wal_level=logical', 'fsync=off', 'max_wal_senders=10', 'max_replication_slots=10'];

/** A Redis site, a Postgres whose rows are written by SQL alone, and two applications that look ids up. */
export class OutsideSite<Site extends RedisSite> implements RedisSite {
  /** Rows that are visible, in the order in which they became so. */
  readonly orders: number[] = [];
  readonly goods: string[] = [];
  lookups = 0;
  shops: OutsideShop[] = [];
  /** What was answered "absent" and must not be. */
  readonly wrong: string[] = [];
  follower: ChildProcess | undefined;
  private isOver = false;
  private working: Promise<void>[] = [];
  private readonly database: pg.Pool;
  private next = 0;

  private constructor(
    readonly redis: Site,
    readonly postgres: PostgresServer,
    readonly feed: TcpProxy,
  ) {
    this.database = new pg.Pool({ connectionString: postgres.url, max: WRITERS + 2 });
    this.database.on('error', () => {});
  }

  static async start<Site extends RedisSite>(
    start: () => Promise<Site>,
    settings: readonly string[] = [],
  ): Promise<OutsideSite<Site>> {
    const [redis, postgres] = await Promise.all([
      start(),
      requirePostgres({ settings: [...SETTINGS, ...settings] }),
    ]);
    await postgres.run(`create table orders (id bigserial primary key); create table goods (sku text primary key);
      insert into orders select from generate_series(1, 500); insert into goods select 'old-' || i from generate_series(1, 500) i`);
    const { hostname, port } = new URL(postgres.url);
    return new OutsideSite(redis, postgres, await TcpProxy.open({ host: hostname, port: Number(port) }));
  }

  connection(instance: number): BloomRedis {
    return this.redis.connection(instance);
  }

  get writes(): number {
    return this.orders.length + this.goods.length;
  }

  /** A process that follows all rows: it is there first. */
  async startFollower(): Promise<void> {
    this.follower = forkProgram(PROCESS, this.options());
    await once(this.follower, 'message');
  }

  /** Rows are written, and looked up as soon as they are visible. */
  async open(): Promise<void> {
    // One of them answers "absent" from its copy, however Redis fares.
    for (const replica of ['covered', undefined] as const)
      this.shops.push(await OutsideShop.start(this.options(), replica));
    for (const shop of this.shops)
      for (const name of [ORDERS, GOODS])
        await eventually(
          'the filter answers, and rows of others come to it',
          async () => {
            const info = await shop
              .filter(name)
              .info()
              .catch(() => undefined);
            const { mark, feed } = info?.outside ?? {};
            return info?.state === 'ready' && (mark ?? feed?.position) !== undefined;
          },
          60_000,
        );
    this.working = [
      ...Array.from({ length: WRITERS }, () => this.write()),
      ...this.shops.map((shop) => this.look(shop)),
    ];
  }

  /** A statement on a connection of its own. */
  run(sql: string): Promise<void> {
    return this.postgres.run(sql);
  }

  async slotStatus(): Promise<string | undefined> {
    const { rows } = await this.database.query<{ status: string }>(
      'select wal_status as status from pg_replication_slots where slot_name = $1',
      [SLOT],
    );
    return rows[0]?.status;
  }

  /** Ends the writers. @throws when a row never comes to a filter. */
  async untilAllKnown(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.working);
    await Promise.all(
      this.shops.flatMap((shop) => [
        this.untilKnown(shop, GOODS, this.goods),
        this.untilKnown(shop, ORDERS, this.orders),
      ]),
    );
  }

  lastEvents(): readonly string[] {
    return this.shops.flatMap(({ events }, i) =>
      events
        .slice(-5)
        .map((event) => `application ${i}: ${event.type} ${'error' in event ? String(event.error) : ''}`),
    );
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.working);
    // Where a row failed in between, nothing that is held may hold the end up.
    this.feed.disconnect();
    this.feed.release();
    this.follower?.kill('SIGKILL');
    await Promise.all(this.shops.map((shop) => shop.close()));
    await this.database.end();
    await this.feed.close();
    await this.postgres.stop();
    await this.redis.stop();
  }

  private options() {
    const { url } = this.postgres;
    const feedUrl = url.replace(/:\d+\//, `:${this.feed.port}/`);
    return { redis: this.redis.connection(2), databaseUrl: url, feedUrl };
  }

  /**
   * What the filter has lost or has not heard of yet may be unknown, and what a feed has not read yet may be
   * absent; at the end all of it is there.
   */
  private async untilKnown(
    shop: OutsideShop,
    name: string,
    ids: readonly (string | number)[],
  ): Promise<void> {
    await eventually(
      `all rows of ${name} are known`,
      async () => (await shop.filter(name).checkMany(ids)).every((verdict) => verdict === 'maybe'),
      CATCH_UP_MS,
    );
  }

  /** Ids are taken in order, and committed out of order. */
  private async write(): Promise<void> {
    while (!this.isOver) {
      await delay(5);
      const sku = `sku-${++this.next}`;
      const client = await this.database.connect().catch(() => undefined);
      if (!client) continue;
      let isBroken = false;
      client.on('error', () => (isBroken = true));
      try {
        const from = performance.now();
        await client.query('begin');
        const { rows } = await client.query<{ id: string }>('insert into orders default values returning id');
        await client.query('insert into goods values ($1)', [sku]);
        await delay(Math.random() * HELD_MS);
        await client.query('commit');
        this.goods.push(sku);
        // One that took longer breaks the condition.
        if (performance.now() - from < OVERLAP_MS) this.orders.push(Number(rows[0]!.id));
      } catch {
        // Postgres is down, and has rolled the transaction back or lost its answer.
        isBroken = true;
      }
      client.release(isBroken);
    }
  }

  private async look(shop: OutsideShop): Promise<void> {
    const filter = shop.filter(ORDERS);
    const known = new Set<string>();
    while (!this.isOver) {
      const ids = Array.from({ length: 20 }, () => pick(this.orders)).filter((id) => id !== undefined);
      for (const [i, verdict] of (await filter.checkMany(ids)).entries())
        if (verdict === 'absent') this.wrong.push(`order ${ids[i]}`);
      const one = this.orders.at(-1);
      if (one !== undefined && (await filter.check(one)) === 'absent') this.wrong.push(`order ${one}`);
      await this.lookAtGoods(shop, known);
      this.lookups += ids.length + 1;
      await delay(2);
    }
  }

  /** What a feed has added once stays. */
  private async lookAtGoods(shop: OutsideShop, known: Set<string>): Promise<void> {
    const skus = Array.from({ length: 10 }, () => pick(this.goods)).filter((sku) => sku !== undefined);
    for (const [i, verdict] of (await shop.filter(GOODS).checkMany(skus)).entries()) {
      const sku = skus[i]!;
      if (verdict === 'maybe') known.add(sku);
      else if (verdict === 'absent' && known.has(sku)) this.wrong.push(sku);
    }
  }
}

function pick<Id>(ids: readonly Id[]): Id | undefined {
  const from = Math.random() < 0.5 ? Math.max(0, ids.length - RECENT) : 0;
  return ids[from + Math.floor(Math.random() * (ids.length - from))];
}

/** Ends the connection that reads the slot, if one does. */
export const END_OF_FEED = `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${SLOT}' and active`;
