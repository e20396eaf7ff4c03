import { Injectable } from '@nestjs/common';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { BloomGuarded, BloomModule, BloomRegisters, BloomService } from 'nestjs-bloom';
import type { TestingModule } from '@nestjs/testing';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { type RedisServer, startRedis } from '../support/redis-server.js';

const DRAIN_MS = 100;

const rows = new Set<string>();
let running = 0;
/** What the database waits for before it commits. */
let commits: Promise<void>;

@Injectable()
class ProductRepository {
  @BloomRegisters('products')
  async create(sku: string, { fails = false }: { fails?: boolean } = {}) {
    running++;
    await commits;
    rows.add(sku);
    if (fails) throw new Error('The connection was lost after COMMIT.');
  }

  @BloomGuarded('products')
  async find(sku: string) {
    return rows.has(sku);
  }
}

let server: RedisServer;
beforeAll(async () => void (server = await startRedis()));
afterAll(() => server.stop());
beforeEach(() => {
  rows.clear();
  running = 0;
  for (let i = 0; i < 100; i++) rows.add(`row-${i}`);
});

function start(redis: string | undefined): Promise<TestingModule> {
  const source = {
    async *ids() {
      yield [...rows];
    },
  };
  const rebuild = { onBoot: 'never', drainMs: DRAIN_MS } as const;
  return startContext({
    imports: [
      BloomModule.forRoot({
        ...(redis === undefined ? {} : { redis }),
        ...PATIENT,
        // A local copy may answer "maybe" to an id of the generation before for some seconds.
        filters: [
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            source,
            rebuild,
            replica: 'off',
            audit: false,
          },
        ],
        onEvent: () => {},
      }),
    ],
    providers: [ProductRepository],
  });
}

it.each(['redis', 'memory'])(
  'finds a row in %s whose create took longer than drainMs, with a rebuild in between',
  async (kind) => {
    const url = kind === 'redis' ? server.url : undefined;
    const app = await start(url);
    // In memory there is one process.
    const other = url ? await start(url) : app;
    const rebuilding = other.get(BloomService).filter('products');
    await rebuilding.rebuild();
    const mine = app.get(ProductRepository);
    let commit = () => {};
    commits = new Promise((resolve) => (commit = resolve));
    const creating = mine.create('slow');
    const failing = mine.create('failed', { fails: true }).catch((error: Error) => error.message);
    await eventually('both ids are added', () => running === 2);
    await rebuilding.rebuild();
    // Its row was not visible when the source was read.
    expect(await rebuilding.mightContain('slow')).toBe(false);
    commit();
    await creating;
    expect(await failing).toBe('The connection was lost after COMMIT.');
    for (const instance of [app, other]) {
      expect(await instance.get(ProductRepository).find('slow')).toBe(true);
      expect(await instance.get(ProductRepository).find('failed')).toBe(true);
    }
    expect(await mine.find('nowhere')).toBeNull();
    await app.close();
    if (other !== app) await other.close();
  },
);
