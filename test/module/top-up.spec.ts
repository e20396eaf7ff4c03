import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomEvent,
  type BloomFeature,
  type BloomFilter,
  BloomModule,
  BloomService,
  type BloomTopUpOptions,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { GrowingTable } from '../support/growing-table.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { outsideKey } from '../support/outside-key.js';

const ABSENT = 1_000_000_000;
const NEVER = { signal: new AbortController().signal, onRetry: () => {} };
const QUICK = { everyMs: 20, overlapMs: 100 } satisfies BloomTopUpOptions;

describe('Rows that others write', () => {
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
    for (let i = 0; i < 300; i++) table.insert();
    events = [];
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((module) => module.close()));
    await client.flushall();
  });
  afterAll(() => redis.close());

  async function start(topUp: BloomTopUpOptions, options: Partial<BloomFeature> = {}): Promise<BloomFilter> {
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            source: table.source(),
            rebuild: { drainMs: 50, leaseMs: 5_000 },
            topUp,
            ...options,
          },
        ]),
      ],
    });
    opened.push(module);
    const filter = module.get(BloomService).filter('products');
    await eventually('the filter is ready', async () => (await filter.info()).state === 'ready');
    return filter;
  }

  const markOf = async (filter: BloomFilter) => (await filter.info()).outside?.mark;
  const hasMark = (filter: BloomFilter) =>
    eventually('the mark is there', async () => (await markOf(filter)) === String(table.place));

  /** Rebuilds find that the gaps between rows stay empty while rows are added. */
  const rebuilt = async (filter: BloomFilter) => {
    await filter.rebuild({ join: false });
    for (let i = 0; i < 150; i++) table.insert();
    await hasMark(filter);
    await filter.rebuild({ join: false });
    await eventually('gaps are covered', async () => (await filter.check(0)) === 'absent');
  };

  it.each<[string, () => BloomFeature['source']]>([
    [
      'one that is made at the start',
      () => ({ useFactory: () => ({ ids: () => table.source().ids(NEVER) }) }),
    ],
    ['several that have marks of their own', () => [table.source(), new GrowingTable().source()]],
  ])('need a source with marks: %s', async (_, source) => {
    await expect(start(QUICK, { source: source() })).rejects.toThrow(
      /one that has idsSince\(mark\).* newRows of inParallel/,
    );
  });

  it('are found without a rebuild', async () => {
    const filter = await start(QUICK);
    const id = table.insert();
    await eventually('the id is added', async () => (await filter.check(id)) === 'maybe');
    expect(table.scans).toBe(1);
  });

  it('are absent until they are read where their ids are in no order', async () => {
    const filter = await start({ everyMs: 3_600_000 }, { coverage: 'none' });
    expect(await filter.check(table.insert())).toBe('absent');
  });

  it('are never absent where ids are in order, and ids between rows are', async () => {
    table.nextId();
    const gap = table.nextId();
    table.insert();
    const filter = await start({ ...QUICK });
    await hasMark(filter);
    for (let i = 0; i < 200; i++) {
      expect(await filter.check(table.insert())).not.toBe('absent');
      expect((await filter.checkMany([table.insert(), gap]))[0]).not.toBe('absent');
    }
    await hasMark(filter);
    expect(table.scans).toBe(1);
    expect(await filter.checkMany([gap, gap, -1])).toEqual(['unknown', 'unknown', 'unknown']);
    await rebuilt(filter);
    expect(await filter.checkMany([gap, gap, -1])).toEqual(['absent', 'absent', 'absent']);
    expect(await filter.check(gap)).toBe('absent');
    expect(await filter.check(ABSENT)).toBe('unknown');
  });

  it('are never absent when they are committed after rows with greater ids, as long as within the overlap', async () => {
    const filter = await start({ everyMs: 10, overlapMs: 1500 });
    await eventually('there is a mark', async () => (await markOf(filter)) !== undefined);
    const since = performance.now();
    const late = table.nextId();
    for (let i = 0; i < 150; i++) table.insert();
    await eventually('later rows are read', async () => (await filter.check(table.ids.at(-1)!)) === 'maybe');
    const verdict = await filter.check(late);
    table.commit(late);
    // A machine that stood still for so long has broken the promise of the test, not that of the filter.
    if (performance.now() - since < 1500) {
      expect(verdict).toBe('unknown');
      while ((await markOf(filter)) !== String(table.place))
        expect(await filter.check(late)).not.toBe('absent');
      expect(await filter.check(late)).toBe('maybe');
    }
  });

  it('are read by one of many processes, and another one takes over', async () => {
    const filters: BloomFilter[] = [];
    for (let i = 0; i < 4; i++) filters.push(await start({ ...QUICK }));
    const following = async () =>
      (await Promise.all(filters.map((filter) => filter.info()))).map(({ outside }) => outside!.isFollowing);
    await eventually('one follows', async () => (await following()).includes(true));
    expect((await following()).filter(Boolean)).toHaveLength(1);
    const at = (await following()).indexOf(true);
    await opened[at]!.close();
    opened.splice(at, 1);
    filters.splice(at, 1);
    const id = table.insert();
    for (const filter of filters) {
      expect(await filter.check(id)).not.toBe('absent');
      await eventually('the id is added', async () => (await filter.check(id)) === 'maybe');
      await hasMark(filter);
    }
    expect(table.scans).toBe(1);
  });

  it('are found by a process that starts again, from the mark on', async () => {
    const filter = await start({ ...QUICK });
    table.insert();
    await hasMark(filter);
    await Promise.all(opened.splice(0).map((module) => module.close()));
    const id = table.insert();
    const again = await start({ ...QUICK });
    expect(await again.check(id)).not.toBe('absent');
    await hasMark(again);
    expect(await again.check(id)).toBe('maybe');
    expect(table.scans).toBe(1);
  });

  it('are found without newest(), which costs two readings of all', async () => {
    const filter = await start({ ...QUICK }, { source: table.source({ newest: false }) });
    expect(await filter.check(ABSENT)).toBe('unknown');
    await hasMark(filter);
    expect(await filter.check(table.insert())).not.toBe('absent');
  });

  it('are found after the source was down, which is an event', async () => {
    const filter = await start({ ...QUICK });
    await hasMark(filter);
    table.fails = true;
    await eventually('an event', () => events.some(({ type }) => type === 'top-up-failed'));
    expect(await filter.check(301)).toBe('unknown');
    table.fails = false;
    const id = table.insert();
    expect(await filter.check(id)).not.toBe('absent');
    await hasMark(filter);
  });

  it('are not denied when the table begins again at 1', async () => {
    // One row is left of all.
    const filter = await start({ ...QUICK }, { rebuild: { drainMs: 50, minRatio: 0 } });
    await hasMark(filter);
    table.truncate();
    await eventually('the mark is given up', async () => (await markOf(filter)) === undefined);
    expect(events.filter(({ type }) => type === 'mark-moved-back')).toMatchObject([{ to: undefined }]);
    for (let i = 0; i < 10; i++) expect(await filter.check(table.insert())).not.toBe('absent');
    expect(await filter.check(ABSENT)).toBe('unknown');
    // A rebuild sets it.
    await hasMark(filter);
  });

  it('are not denied when ids begin again, and the filter has the newest of them', async () => {
    const gap = 13;
    table.ids.splice(gap - 1, 1);
    const filter = await start({ ...QUICK }, { rebuild: { drainMs: 50, minRatio: 0 } });
    await hasMark(filter);
    table.restart((restarted) => {
      for (let i = 0; i < 150; i++) restarted.insert();
    });
    await eventually('that is seen', () => events.some(({ type }) => type === 'mark-moved-back'));
    for (let i = 0; i < 100; i++) expect(await filter.check(gap)).not.toBe('absent');
    await hasMark(filter);
    expect(await filter.check(gap)).toBe('maybe');
  });

  it('are not denied when ids begin again, and one of them is committed late', async () => {
    const late = 3;
    const all = table.ids.filter((id) => id !== late);
    table.restart((fresh) => {
      for (let i = 0; i < 300; i++) fresh.nextId();
      fresh.commit(...all);
    });
    const filter = await start({ everyMs: 10, overlapMs: 1500 });
    await hasMark(filter);
    const since = performance.now();
    table.restart((fresh) => {
      for (let i = 0; i < 150; i++) fresh.nextId();
      fresh.commit(...all.filter((id) => id <= 150));
    });
    await eventually('that is seen', () => events.some(({ type }) => type === 'mark-moved-back'));
    const verdict = await filter.check(late);
    table.commit(late);
    if (performance.now() - since < 1500) {
      expect(verdict).toBe('unknown');
      while ((await markOf(filter)) !== String(table.ids.at(-101)))
        expect(await filter.check(late)).not.toBe('absent');
      expect(await filter.check(late)).toBe('maybe');
    }
    expect(table.scans).toBe(1);
  });

  it('leave the mark near when the last ones are deleted, without a rebuild', async () => {
    const filter = await start({ ...QUICK });
    await hasMark(filter);
    table.ids.splice(-150);
    await eventually('the mark is there', async () => (await markOf(filter)) === '50');
    expect(events.filter(({ type }) => type === 'mark-moved-back')).toMatchObject([
      { mark: '200', to: '-9850' },
    ]);
    expect(table.scans).toBe(1);
  });

  it('are not denied when somebody has written a mark that is too late', async () => {
    const filter = await start({ ...QUICK });
    await hasMark(filter);
    await client.hset(await outsideKey(client, 'products'), 'mark', 'number:5000');
    await hasMark(filter);
    expect(events.filter(({ type }) => type === 'mark-moved-back')).toMatchObject([
      { mark: '5000', to: '-9700' },
    ]);
    expect(await filter.check(301)).toBe('unknown');
  });

  it.each(['nonsense', 'string:abc', 'date:2024-01-01T00:00:00.000Z'])(
    'get a new mark in place of %p',
    async (mark) => {
      const filter = await start({ ...QUICK });
      await hasMark(filter);
      await client.hset(await outsideKey(client, 'products'), 'mark', mark);
      await eventually('an event', () => events.some(({ type }) => type === 'mark-moved-back'));
      expect(await filter.check(table.insert())).not.toBe('absent');
      await hasMark(filter);
    },
  );

  it('are unknown after the ledger was lost, until a rebuild', async () => {
    const filter = await start({ ...QUICK });
    await hasMark(filter);
    await client.del(await outsideKey(client, 'products'), 'bloom:{products}:outside:holder');
    await eventually('that is seen', async () => (await filter.check(0)) === 'unknown' || table.scans > 1);
    await hasMark(filter);
    expect(table.scans).toBe(2);
    await rebuilt(filter);
  });

  it('are not believed to be gone by a build of no rows where there is a mark', async () => {
    const filter = await start({ everyMs: 3_600_000, overlapMs: 100 });
    await hasMark(filter);
    await client.del('bloom:{products}:meta');
    table.ids.length = 0;
    await expect(filter.rebuild({ join: false })).rejects.toThrow(/0 ids|no ids/);
  });

  it('are refused beyond the slack, and not within it', async () => {
    const filter = await start({ ...QUICK, beyond: 'absent', slack: 100 });
    await hasMark(filter);
    await eventually('it is read', async () => (await filter.info()).outside?.readAt !== undefined);
    await eventually('an id far away is refused', async () => (await filter.check(ABSENT)) === 'absent');
    expect(await filter.check(400)).toBe('unknown');
    table.fails = true;
    await eventually(
      'nothing is refused when the source has not been read for long',
      async () => (await filter.check(ABSENT)) === 'unknown',
    );
  });
});
