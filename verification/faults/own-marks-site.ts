import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { eventually } from '../../test/support/eventually.js';
import { type PostgresServer, requirePostgres } from '../../test/support/postgres-server.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { InstanceProcess } from '../replay/instance-process.js';
import type { MemoryReply } from '../replay/instance-protocol.js';

/** Rows that were there before: far more than a mark stays behind. */
const FIRST = 500;
const WRITERS = 4;
const HELD_MS = 60;
/** One transaction in so many is open for longer than the overlap of the instances. */
const LONG_ONES = 25;
const LONG_MS = 1200;
const RECENT = 64;
const ASKED = 30;
/** Ids of no row. The eight largest gaps between rows hold less than half of the first `ASKED` of them. */
const MANY = 4 * ASKED;
const CATCH_UP_MS = 90_000;

/**
 * Three processes with the filter in memory, and a Postgres whose rows are written by SQL alone: nothing else
 * is shared. Each row is looked up in each process as soon as it is visible.
 */
export class OwnMarksSite {
  /** Rows that are visible, in the order in which they became so. */
  readonly rows: number[] = [];
  /** Ids that were taken, and are of no row. */
  readonly none: number[] = [];
  readonly wrong: string[] = [];
  lookups = 0;
  standby: PostgresServer | undefined;
  readonly instances: InstanceProcess[] = [];
  private readonly absent = new Set<number>();
  private isOver = false;
  private working: Promise<void>[] = [];
  private readonly database: pg.Pool;

  private constructor(
    readonly primary: PostgresServer,
    readonly proxy: TcpProxy,
  ) {
    this.database = new pg.Pool({ connectionString: this.url, max: WRITERS + 2 });
    // A connection may end while a transaction is open.
    this.database.on('connect', (client) => client.on('error', () => {}));
    this.database.on('error', () => {});
  }

  static async start({ hasStandby = false } = {}): Promise<OwnMarksSite> {
    const primary = await requirePostgres();
    await primary.run(`create table products (id bigserial primary key);
      insert into products select from generate_series(1, ${FIRST})`);
    const site = new OwnMarksSite(primary, await TcpProxy.open(addressOf(primary)));
    if (hasStandby) site.standby = await requirePostgres({ standbyOf: primary });
    for (let i = 0; i < 3; i++) site.instances.push(await site.startInstance());
    return site;
  }

  get writes(): number {
    return this.rows.length;
  }

  startInstance(): Promise<InstanceProcess> {
    return InstanceProcess.start({ databaseUrl: this.url, isQuiet: true }, './memory-instance.ts');
  }

  /** Rows are written, and looked up as soon as they are visible. */
  async open(): Promise<void> {
    const first = Array.from({ length: FIRST }, (_, i) => i + 1);
    for (const i of this.instances.keys()) await this.untilAbsent(i);
    this.rows.push(...first);
    this.working = [
      ...Array.from({ length: WRITERS }, () => this.write()),
      ...this.instances.map((_, i) => this.look(i)),
    ];
    await eventually('the largest gaps hold few of the ids of no row', () => this.none.length >= MANY);
  }

  /** The standby takes over, which lacks the last rows. */
  async failOver(lagMs: number): Promise<void> {
    await this.untilStandbyFollows();
    await this.standby!.run(`alter system set primary_conninfo = ''`);
    await this.standby!.run('select pg_reload_conf()');
    await delay(lagMs);
    this.proxy.cut();
    await this.primary.crash();
    await this.standby!.run('select pg_promote()');
    this.proxy.target = addressOf(this.standby!);
    this.proxy.mend();
    // Rows that it lacks never were.
    await this.forgetLost();
  }

  /** @throws when a row never comes to a filter, or ids of no row are never absent again. */
  async untilAllKnown(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.working);
    await this.forgetLost();
    // A mark stays a hundred rows behind the last one.
    await this.database.query('insert into products select from generate_series(1, 200)');
    for (const id of this.absent) if (this.rows.includes(id)) this.wrong.push(`product ${id}`);
    for (const i of this.instances.keys()) {
      await eventually(
        'each row is known',
        async () => {
          const { wrongAbsent, unknown } = await this.ask(i, this.rows);
          return wrongAbsent + unknown === 0;
        },
        CATCH_UP_MS,
      );
      await this.untilAbsent(i);
    }
  }

  lastEvents(): readonly string[] {
    return [];
  }

  async stop(): Promise<void> {
    this.isOver = true;
    for (const instance of this.instances) instance.kill();
    await Promise.allSettled(this.working);
    await this.database.end();
    await this.proxy.close();
    await this.standby?.stop();
    await this.primary.stop();
  }

  /** It may have connected late, and lag more than the instances allow for. */
  private async untilStandbyFollows(): Promise<void> {
    const { rows } = await this.database.query<{ at: string }>('select pg_current_wal_lsn() as at');
    const standby = new pg.Client({ connectionString: this.standby!.url });
    await standby.connect();
    try {
      await eventually('the standby follows', async () => {
        const passed = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as passed';
        return (await standby.query<{ passed: boolean }>(passed, [rows[0]!.at])).rows[0]!.passed;
      });
    } finally {
      await standby.end();
    }
  }

  private get url(): string {
    return `postgres://test@127.0.0.1:${this.proxy.port}/postgres`;
  }

  private async write(): Promise<void> {
    while (!this.isOver) {
      await delay(Math.random() * HELD_MS);
      await this.writeRow().catch(() => delay(100));
    }
  }

  private async writeRow(): Promise<void> {
    const client = await this.database.connect();
    let failure: Error | undefined;
    try {
      await client.query('begin');
      const taken = await client.query(`select nextval('products_id_seq') as id`);
      const { rows } = await client.query('insert into products default values returning id');
      const isLong = Math.random() < 1 / LONG_ONES;
      await delay(isLong ? LONG_MS : Math.random() * HELD_MS);
      await client.query('commit');
      this.rows.push(Number(rows[0].id));
      this.none.push(Number(taken.rows[0].id));
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }

  private async look(instance: number): Promise<void> {
    while (!this.isOver) {
      await this.ask(instance, [...Array.from({ length: ASKED }, () => pick(this.rows)), this.rows.at(-1)!]);
      await delay(2);
    }
  }

  private async ask(instance: number, ids: readonly number[]): Promise<MemoryReply> {
    const reply = await this.instances[instance]!.send({
      type: 'lookup',
      ids,
      others: this.none.slice(0, ASKED),
    });
    this.lookups += ids.length;
    for (const id of reply.ids ?? []) this.absent.add(id);
    return reply;
  }

  private untilAbsent(instance: number): Promise<void> {
    const others = [...this.none.slice(0, ASKED), Number.MAX_SAFE_INTEGER];
    return eventually(
      'ids of no row are absent, but those in the largest gaps',
      async () => {
        const { denied = 0 } = await this.instances[instance]!.send({ type: 'lookup', ids: [], others });
        return denied > others.length / 2;
      },
      CATCH_UP_MS,
    );
  }

  private async forgetLost(): Promise<void> {
    const { rows } = await this.database.query<{ id: string }>('select id from products');
    const there = new Set(rows.map(({ id }) => Number(id)));
    const kept = this.rows.filter((id) => there.has(id));
    this.rows.splice(0, Infinity, ...kept);
    // Ids that were lost are given out once more.
    const none = this.none.filter((id) => !there.has(id));
    this.none.splice(0, Infinity, ...none);
  }
}

function addressOf({ url }: PostgresServer): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

function pick(ids: readonly number[]): number {
  const from = Math.random() < 0.5 ? Math.max(0, ids.length - RECENT) : 0;
  return ids[from + Math.floor(Math.random() * (ids.length - from))]!;
}
