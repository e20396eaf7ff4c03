import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomFilter,
  type BloomFilterOptions,
  BloomIdError,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { GAP, GrowingTable } from '../support/growing-table.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';

const ROWS = 60;
const FAR = 1_000_000_000;

describe('A copy of a covered filter', () => {
  let redis: RedisFixture;
  let client: Redis;
  let table: GrowingTable;
  const opened: TestingModule[] = [];
  beforeAll(async () => {
    redis = await RedisFixture.start();
    client = redis.client();
  });
  beforeEach(() => {
    table = new GrowingTable();
    table.fill(ROWS);
  });
  afterEach(async () => {
    table.fails = false;
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await client.flushall();
  });
  afterAll(() => redis.close());

  async function start(options?: Partial<BloomFilterOptions>): Promise<BloomFilter> {
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 10_000,
            source: table.source(),
            rebuild: { drainMs: 50, leaseMs: 5_000, minRatio: 0 },
            topUp: { everyMs: 20, overlapMs: 100 },
            coverage: 'ordered',
            replica: 'covered',
            ...options,
          },
        ]),
      ],
    });
    opened.push(module);
    return module.get(BloomService).filter('products');
  }

  /** Blocks that checks have read: a copy that is sure of an id reads none. */
  async function reads(check: () => Promise<unknown>): Promise<number> {
    const before = await calls();
    await check();
    return (await calls()) - before;
  }
  async function calls(): Promise<number> {
    const [, count] = /cmdstat_getrange:calls=(\d+)/.exec(await client.info('commandstats')) ?? [];
    return Number(count ?? 0);
  }

  const isSure = (filter: BloomFilter) =>
    eventually('the copy is sure of what it covers', async () => {
      const verdict = await filter.check(GAP);
      return verdict === 'absent' && (await reads(() => filter.check(GAP))) === 0;
    });

  it('answers "absent" up to its mark without a command, and asks Redis beyond', async () => {
    const filter = await start();
    await isSure(filter);
    const covered = async () => {
      for (let i = 0; i < 100; i++) expect(await filter.check(GAP)).toBe('absent');
      expect(await filter.checkMany([GAP, 1, GAP])).toEqual(['absent', 'maybe', 'absent']);
    };
    expect(await reads(covered)).toBe(0);
    expect(await reads(() => filter.check(FAR))).toBe(1);
    for (let i = 0; i < 200; i++) {
      const id = table.insert();
      expect(await filter.check(id)).not.toBe('absent');
    }
    expect((await filter.checkMany(table.ids)).includes('absent')).toBe(false);
  });

  it('does so while Redis is emptied, or does not answer', async () => {
    const filter = await start();
    await isSure(filter);
    table.fails = true;
    await client.flushall();
    await eventually('the loss is noticed', async () => (await filter.info()).state !== 'ready');
    expect(await filter.check(FAR)).toBe('unknown');
    expect(await filter.check(GAP)).toBe('absent');
    expect(await filter.checkMany([GAP, 1])).toEqual(['absent', 'maybe']);
    table.fails = false;
    await eventually('it is rebuilt', async () => (await filter.info()).state === 'ready');
    await isSure(filter);
    await client.call('CLIENT', 'PAUSE', '500', 'ALL');
    for (let i = 0; i < 100; i++) expect(await filter.check(GAP)).toBe('absent');
  });

  it('ends when ids begin again', async () => {
    const filter = await start();
    await isSure(filter);
    table.truncate();
    await eventually('the mark is given up', async () => (await filter.check(GAP)) === 'unknown');
    for (let i = 0; i < 100; i++) {
      const id = table.insert();
      await eventually('it is not denied', async () => (await filter.check(id)) !== 'absent');
    }
  });

  it('has old ids refused by each process', async () => {
    const filters = [await start(), await start()];
    for (const filter of filters) await isSure(filter);
    for (const filter of filters) {
      // Once more: the first attempt has left nothing.
      for (let i = 0; i < 2; i++) await expect(filter.add(GAP)).rejects.toThrow(BloomIdError);
      await expect(filter.addMany([1, GAP])).rejects.toThrow('rebuild({ join: false })');
      expect(await filter.add(1)).toBe(false);
      for (let i = 0; i < 20; i++) {
        const id = table.nextId();
        await filter.add(id);
        table.commit(id);
        for (const one of filters) expect(await one.check(id)).toBe('maybe');
      }
    }
    table.commit(GAP);
    await filters[1]!.rebuild({ join: false });
    for (const filter of filters)
      await eventually('the row is known', async () => (await filter.check(GAP)) !== 'absent');
  });

  it('refuses them also when Redis has lost the mark', async () => {
    const filters = [await start(), await start()];
    for (const filter of filters) await isSure(filter);
    await client.flushall();
    await expect(filters[1]!.add(GAP)).rejects.toThrow();
    await eventually('it is rebuilt', async () => (await filters[1]!.info()).state === 'ready');
    await expect(filters[1]!.add(GAP)).rejects.toThrow(BloomIdError);
    expect(await filters[0]!.check(GAP)).toBe('absent');
  });

  it.each([
    [{ coverage: 'none' }, "coverage is 'none'"],
    [{ feed: { follow: async () => {} } }, 'a feed adds rows in any order'],
    [
      { source: { ids: async function* () {} }, topUp: undefined, coverage: undefined },
      "a copy is 'covered' up to a mark",
    ],
  ])('is refused where rows come in another order: %p', async (options, why) => {
    await expect(start(options as never)).rejects.toThrow(why);
  });
});
