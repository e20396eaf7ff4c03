import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomEvent,
  type BloomFilter,
  type BloomFilterOptions,
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

/** Where processes answer from copies of their own, and where ids are dealt over parts. */
const KINDS: readonly (readonly [string, Partial<BloomFilterOptions>])[] = [
  ['a leased copy', { replica: 'leased' }],
  ['four parts', { partitions: 4 }],
  ['verified copies of four parts', { replica: 'verified', partitions: 4 }],
];

describe.each(KINDS)('Coverage of %s', (_, kind) => {
  let redis: RedisFixture;
  let client: Redis;
  let table: GrowingTable;
  let events: BloomEvent[];
  const opened: TestingModule[] = [];
  beforeAll(async () => {
    redis = await RedisFixture.start();
    client = redis.client();
  });
  beforeEach(() => {
    table = new GrowingTable();
    table.fill(ROWS);
    events = [];
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await client.flushall();
  });
  afterAll(() => redis.close());

  async function start(everyMs: number): Promise<BloomFilter> {
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 10_000,
            source: table.source(),
            rebuild: { drainMs: 50, leaseMs: 5_000, minRatio: 0 },
            topUp: { everyMs, overlapMs: 100 },
            ...kind,
          },
        ]),
      ],
    });
    opened.push(module);
    const filter = module.get(BloomService).filter('products');
    await eventually('the filter is ready', async () => (await filter.info()).state === 'ready');
    if (kind.replica === 'leased') await isLeased(filter);
    return filter;
  }

  const isLeased = (filter: BloomFilter) =>
    eventually('the copy is leased', async () => (await filter.info()).copyLease?.isLeased === true);
  const markOf = async (filter: BloomFilter) => (await filter.info()).outside?.mark;
  const hasMark = (filter: BloomFilter) =>
    eventually('the mark is there', async () => (await markOf(filter)) === String(table.place));
  const hears = (filter: BloomFilter) =>
    eventually('it hears of a mark', async () => (await filter.check(GAP)) === 'absent');

  it('holds in the process that reads what is new, and in others', async () => {
    const filters = [await start(20), await start(30)];
    for (const filter of filters) await hears(filter);
    for (let i = 0; i < 60; i++) {
      for (const filter of filters) {
        const id = table.insert();
        expect(await filter.check(id)).not.toBe('absent');
        expect((await filter.checkMany([id, table.insert()])).includes('absent')).toBe(false);
      }
    }
    for (const filter of filters) {
      await hasMark(filter);
      expect(await filter.checkMany(table.ids)).toEqual(table.ids.map(() => 'maybe'));
      await eventually('the mark is heard', async () => (await filter.check(GAP)) === 'absent');
      expect(await filter.check(FAR)).toBe('unknown');
    }
    expect(table.scans).toBe(1);
  });

  it('holds while rebuilds go live', async () => {
    const filter = await start(20);
    await hears(filter);
    let isOver = false;
    const rebuilding = (async () => {
      for (let i = 0; i < 2; i++) await filter.rebuild({ join: false });
      isOver = true;
    })();
    while (!isOver) {
      const id = table.insert();
      expect(await filter.check(id)).not.toBe('absent');
      expect((await filter.checkMany(table.ids.slice(-50))).includes('absent')).toBe(false);
      // What a copy answers takes no turn of the event loop, which the rebuild needs.
      await new Promise(setImmediate);
    }
    await rebuilding;
    for (let i = 0; i < 200; i++) table.insert();
    await hasMark(filter);
    expect((await filter.checkMany(table.ids)).includes('absent')).toBe(false);
  });

  it('is given up with its mark, and comes back with a rebuild of the whole', async () => {
    const filter = await start(20);
    await hears(filter);
    const keys = await client.keys('*');
    const scans = table.scans;
    // One part of the filter, or all of it, and what is known of its rows.
    const lost = keys.filter((key) => key.includes(kind.partitions ? 'products#2.' : 'products'));
    const ledger = keys.filter((key) => key.includes(':outside'));
    expect(lost.length).toBeGreaterThan(0);
    expect(ledger.length).toBeGreaterThan(0);
    await client.del(...new Set([...lost, ...ledger]));
    for (let i = 0; i < 100; i++) expect(await filter.check(table.insert())).not.toBe('absent');
    await eventually('there is a mark', async () => (await markOf(filter)) !== undefined);
    expect(table.scans).toBeGreaterThan(scans);
    expect((await filter.checkMany(table.ids)).includes('absent')).toBe(false);
    await hears(filter);
  });
});
