import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { BloomUnavailableError } from 'nestjs-bloom';
import { eventually } from '../../test/support/eventually.js';
import { forkProgram } from '../../test/support/forked-program.js';
import { type PostgresServer, requirePostgres } from '../../test/support/postgres-server.js';
import type { RedisServer } from '../../test/support/redis-server.js';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { type Fault, fault } from './fault.js';
import { type RedisSite, ServerSite } from './redis-site.js';
import type { WriterOptions, WriterPoint } from './writer-protocol.js';
import { WrittenShop } from './written-shop.js';

const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url));

/** A Redis, and a shop whose rows are in a Postgres of its own and whose filter is built. */
class WrittenSite implements RedisSite {
  private constructor(
    private readonly redis: ServerSite,
    private readonly postgres: PostgresServer,
    readonly shop: WrittenShop,
  ) {}

  static async start(): Promise<WrittenSite> {
    const [redis, postgres] = await Promise.all([ServerSite.start(), requirePostgres()]);
    await postgres.run('create table kinds (name text primary key)');
    const shop = await WrittenShop.start({ redisUrl: redis.server.url, databaseUrl: postgres.url });
    await shop.write('old');
    await shop.filter.rebuild({ force: true });
    return new WrittenSite(redis, postgres, shop);
  }

  get server(): RedisServer {
    return this.redis.server;
  }

  get addresses(): Pick<WriterOptions, 'redisUrl' | 'databaseUrl'> {
    return { redisUrl: this.server.url, databaseUrl: this.postgres.url };
  }

  connection(): BloomRedis {
    return this.redis.connection();
  }

  async stop(): Promise<void> {
    await this.shop.close();
    await this.postgres.stop();
    await this.redis.stop();
  }
}

/** No row may be absent, whatever became of its writer. */
async function expectNoRowAbsent({
  filter,
  rows,
}: {
  filter: WrittenShop['filter'];
  rows: readonly string[];
}) {
  for (const name of rows) {
    if ((await filter.check(name)) === 'absent') throw new Error(`The row '${name}' is absent.`);
  }
}

/**
 * A process that writes is killed, and its row is there only if it was committed; its id is there in any
 * case.
 */
function writerKilled(at: WriterPoint, quick: boolean): Fault {
  return fault({
    name: `killed (SIGKILL) after its ${at}`,
    group: 'writes',
    quick,
    start: () => WrittenSite.start(),
    strike: async ({ site: { shop, addresses }, over, remark }) => {
      const name = `killed after ${at}`;
      const writer = forkProgram(WRITER, { ...addresses, name, at } satisfies WriterOptions);
      const [, signal] = (await once(writer, 'exit')) as [number | null, string | null];
      if (signal !== 'SIGKILL') throw new Error('The writer came past the point at which it is killed.');
      over();
      await eventually('Postgres has ended its transaction', async () => (await shop.rows()).length > 0);
      const rows = await shop.rows();
      if (rows.includes(name) !== (at === 'commit')) throw new Error(`Unexpected rows: ${rows.join(', ')}.`);
      await expectNoRowAbsent({ filter: shop.filter, rows });
      const verdict = await shop.filter.check(name);
      if (verdict !== 'maybe') throw new Error(`Expected the id to be recorded, got '${verdict}'.`);
      remark(at === 'commit' ? 'its row is found' : 'its id has no row, until the next rebuild');
      await shop.filter.rebuild();
      await expectNoRowAbsent({ filter: shop.filter, rows });
    },
  });
}

export const writeFaults: readonly Fault[] = [
  writerKilled('add', true),
  writerKilled('insert', false),
  writerKilled('commit', false),
  fault({
    name: 'Redis killed before a write',
    group: 'writes',
    start: () => WrittenSite.start(),
    strike: async ({ site: { shop, server }, over }) => {
      await server.kill();
      const error = await shop.write('refused').then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!(error instanceof BloomUnavailableError))
        throw new Error(`The write was not refused: ${String(error)}`);
      if ((await shop.rows()).includes('refused')) throw new Error('A row was written without its id.');
      await server.restart();
      over();
      await expectNoRowAbsent({ filter: shop.filter, rows: await shop.rows() });
    },
  }),
  fault({
    name: 'Redis killed between an add and its commit',
    group: 'writes',
    quick: true,
    start: () => WrittenSite.start(),
    strike: async ({ site: { shop, server }, over, remark }) => {
      await shop.writeSlowly('late', () => server.kill()).catch((error: unknown) => remark(String(error)));
      const rows = await shop.rows();
      if (!rows.includes('late')) throw new Error('The row whose id was recorded was not committed.');
      await expectNoRowAbsent({ filter: shop.filter, rows });
      await server.restart();
      over();
      await eventually('the filter is built again', async () => {
        await expectNoRowAbsent({ filter: shop.filter, rows });
        return shop.filter.rebuild({ force: true }).then(
          () => true,
          () => false,
        );
      });
      if ((await shop.filter.check('late')) !== 'maybe') throw new Error('The row is not found.');
    },
  }),
];
