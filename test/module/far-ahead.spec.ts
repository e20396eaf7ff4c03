import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomEvent,
  type BloomFilter,
  BloomModule,
  BloomService,
  type BloomTopUpOptions,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { YEAR_MS, uuid7, KINDS, Table, type Id } from '../support/ordered-table.js';
import { outsideKey } from '../support/outside-key.js';
import { RedisFixture } from '../support/redis-fixture.js';

const QUICK = { everyMs: 20, overlapMs: 100 } satisfies BloomTopUpOptions;
describe('A row far ahead in the order', () => {
  let redis: RedisFixture;
  let client: Redis;
  let events: BloomEvent[];
  let module: TestingModule | undefined;
  beforeAll(async () => {
    redis = await RedisFixture.start();
    client = redis.client();
  });
  beforeEach(() => {
    events = [];
  });
  afterEach(async () => {
    await module?.close();
    module = undefined;
    await client.flushall();
  });
  afterAll(() => redis.close());

  async function start(table: Table, topUp: BloomTopUpOptions = QUICK): Promise<BloomFilter> {
    module = await startContext({
      imports: [
        BloomModule.forRoot({ redis: redis.server.url, ...PATIENT, onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 100_000,
            errorRate: 1e-6,
            source: table.source(),
            rebuild: { drainMs: 50, leaseMs: 5_000 },
            topUp,
          },
        ]),
      ],
    });
    const filter = module.get(BloomService).filter('products');
    await eventually('the filter is ready', async () => (await filter.info()).state === 'ready');
    return filter;
  }

  const markOf = async (filter: BloomFilter) => (await filter.info()).outside?.mark;
  const hasMark = (filter: BloomFilter, mark: Id | undefined) =>
    eventually(`the mark is ${mark}`, async () => (await markOf(filter)) === String(mark));
  const failures = () => events.filter(({ type }) => type === 'top-up-failed' || type === 'mark-moved-back');

  /** Writes rows in order: none of them is absent at any time, and all are added. */
  async function follows(filter: BloomFilter, table: Table, rows: number): Promise<void> {
    const written: Id[] = [];
    for (let i = 0; i < rows; i++) {
      written.push(table.insert());
      expect(await filter.check(written.at(-1)!)).not.toBe('absent');
    }
    await eventually('all are added', async () =>
      (await filter.checkMany(written)).every((verdict) => verdict === 'maybe'),
    );
    expect((await filter.checkMany(written)).includes('absent')).toBe(false);
  }

  describe.each(KINDS)('among $name', ({ idOf, far, ofFuture = 0 }) => {
    it.each(['before the first build', 'after it'])(
      'does not cover the rows that are to come, %s',
      async (when) => {
        const table = new Table(idOf, 300);
        if (when !== 'after it') for (const id of far) table.write(id);
        const filter = await start(table);
        await eventually('there is a mark', async () => (await markOf(filter)) !== undefined);
        if (when === 'after it') for (const id of far) table.write(id);
        await eventually('it is added', async () =>
          (await filter.checkMany(far)).every((verdict) => verdict === 'maybe'),
        );
        await follows(filter, table, 4);
        await follows(filter, table, 150);
        await hasMark(filter, idOf(454 - 100 + far.length - ofFuture));
        expect(failures()).toEqual([]);
        expect(table.scans).toBe(1);
      },
    );

    it('does not in a table of few rows', async () => {
      const table = new Table(idOf, 8);
      for (const id of far) table.write(id);
      const filter = await start(table);
      await follows(filter, table, 4);
    });

    it('does not where the source has no rows but it', async () => {
      const table = new Table(idOf, 0);
      table.write(far[0]!);
      const filter = await start(table, { ...QUICK, overlapMs: 0 });
      await follows(filter, table, 4);
    });
  });

  it.each([300, 8])(
    'does not where newest() of the source leaves out no rows, among %d integers',
    async (rows) => {
      const table = new Table(Number, rows, true);
      table.write(2_147_483_647);
      const filter = await start(table);
      await hasMark(filter, rows === 300 ? 201 : 4);
      await follows(filter, table, 4);
    },
  );

  it('is one of many whose time is yet to come', async () => {
    const { idOf } = KINDS.find(({ name }) => name === 'UUIDs of version 7')!;
    const table = new Table(idOf, 300);
    for (let i = 0; i < 500; i++) table.write(uuid7(Date.now() + YEAR_MS + i, i));
    const filter = await start(table);
    await follows(filter, table, 150);
    await hasMark(filter, idOf(350));
  });

  it('is followed where the order itself has moved there', async () => {
    const table = new Table(Number, 300);
    const filter = await start(table);
    table.jump(1_000_000_000);
    await follows(filter, table, 150);
    await hasMark(filter, 1_000_000_050);
    // A rebuild has to find the gap empty, and a later one that rows have been added since.
    for (let i = 0; i < 2; i++) {
      await filter.rebuild({ join: false });
      expect(await filter.checkMany([500, 999_999_999])).toEqual(['unknown', 'unknown']);
    }
    await follows(filter, table, 150);
    await hasMark(filter, 1_000_000_200);
    await filter.rebuild({ join: false });
    await eventually('the gap is covered', async () => (await filter.check(500)) === 'absent');
    await follows(filter, table, 10);
  });

  describe('as one of many that are written at once', () => {
    const write = (table: Table, from: number, rows: number) => {
      for (let i = 0; i < rows; i++) table.ids.push(from + i);
      table.ids.sort((a, b) => Number(a) - Number(b));
    };

    it.each([150, 5000])(
      'does not cover the rows that are to come: %d before the first build',
      async (rows) => {
        const table = new Table(Number, 300);
        write(table, 1_000_000, rows);
        const filter = await start(table);
        await hasMark(filter, 1_000_000 + rows - 101);
        for (let i = 0; i < 150; i++) expect(await filter.check(table.insert())).not.toBe('absent');
        expect(await filter.checkMany([1, 300])).toEqual(['maybe', 'maybe']);
      },
    );

    it('does not after it, and not after a rebuild that has found rows in the gap', async () => {
      const table = new Table(Number, 300);
      const filter = await start(table);
      await hasMark(filter, 200);
      write(table, 1_000_000, 5000);
      await hasMark(filter, 1_004_899);
      const unread = Array.from({ length: 150 }, () => table.insert());
      expect((await filter.checkMany(unread)).includes('absent')).toBe(false);
      await filter.rebuild({ join: false });
      expect((await filter.checkMany(unread)).every((verdict) => verdict === 'maybe')).toBe(true);
      for (let i = 0; i < 150; i++) expect(await filter.check(table.insert())).not.toBe('absent');
      expect(failures()).toEqual([]);
    });

    it.each([
      ['at once', [150]],
      ['in pieces', [150, 150]],
    ])(
      'does not after rebuilds that have found no row in the gap, when they were written %s',
      async (_, pieces) => {
        const table = new Table(Number, 300);
        const filter = await start(table);
        await hasMark(filter, 200);
        let last = 999_999_999;
        for (const rows of pieces) {
          write(table, last + 1, rows);
          last += rows;
          await hasMark(filter, last - 100);
        }
        for (let i = 0; i < 2; i++) await filter.rebuild({ join: false });
        for (let i = 0; i < 50; i++) expect(await filter.check(table.insert())).not.toBe('absent');
        expect(failures()).toEqual([]);
      },
    );

    it('does not when the rows of the gap have been deleted', async () => {
      const table = new Table(Number, 300);
      const filter = await start(table);
      await hasMark(filter, 200);
      write(table, 1_000_000, 150);
      await hasMark(filter, 1_000_049);
      await filter.rebuild({ join: false });
      const row = table.insert();
      await filter.rebuild({ join: false });
      table.ids.splice(table.ids.indexOf(row), 1);
      write(table, 1_000_150, 150);
      await hasMark(filter, 1_000_199);
      await filter.rebuild({ join: false });
      for (let i = 0; i < 50; i++) expect(await filter.check(table.insert())).not.toBe('absent');
    });

    it('does not where several follow one another', async () => {
      const table = new Table(Number, 300);
      const filter = await start(table);
      for (const from of [10_000, 1_000_000, 2_000_000_000]) {
        write(table, from, 200);
        await hasMark(filter, from + 99);
      }
      for (const last of [300, 10_199, 1_000_199]) {
        table.jump(last);
        for (let i = 0; i < 20; i++) expect(await filter.check(table.insert())).not.toBe('absent');
      }
    });

    it('does not where there are no other rows yet', async () => {
      const table = new Table(Number, 0);
      write(table, 9000, 150);
      const filter = await start(table);
      await hasMark(filter, 9074);
      for (let i = 0; i < 50; i++) expect(await filter.check(table.insert())).not.toBe('absent');
    });
  });

  it('is followed when many rows are written at once', async () => {
    const table = new Table((n) => 7 * n, 300);
    const filter = await start(table);
    for (let i = 0; i < 20_000; i++) table.ids.push(7 * (301 + i));
    table.jump(20_300);
    await hasMark(filter, 7 * 20_200);
    await follows(filter, table, 10);
    expect(await filter.check(7 * 20_000 + 1)).toBe('absent');
    expect(table.scans).toBe(1);
  });

  it('is found by a rebuild where an older mark believes it, and nothing is covered until one finds no row missing', async () => {
    const table = new Table(Number, 300);
    // The largest gaps are others than that with 0.
    for (const id of [-1, -10, -20, -30, -40, -50, -60, -70, -80, -90]) table.write(id);
    table.write(2_147_483_647);
    const filter = await start(table);
    await hasMark(filter, 201);
    const ledger = await outsideKey(client, 'products');
    await client.hset(ledger, 'mark', 'number:2147483647');
    await hasMark(filter, 2_147_483_647);
    await eventually('that is heard', async () => (await filter.check(2_000_000_000)) === 'absent');
    const missing = table.insert();
    expect(await filter.check(missing)).toBe('absent');

    await filter.rebuild({ join: false });
    expect(failures()).toMatchObject([
      {
        type: 'mark-moved-back',
        mark: '2147483647',
        to: undefined,
        reason: expect.stringContaining("lacked 1, '301' among them"),
      },
    ]);
    expect(await filter.check(missing)).toBe('maybe');
    await eventually('the mark is set again', async () =>
      redis
        .client()
        .hget(ledger, 'mark')
        .then((mark) => mark === 'number:202'),
    );
    expect(await markOf(filter)).toBeUndefined();
    await follows(filter, table, 4);
    expect(await filter.check(0)).toBe('unknown');

    await filter.rebuild({ join: false });
    await hasMark(filter, 206);
    await eventually('it covers again', async () => (await filter.check(0)) === 'absent');
    await follows(filter, table, 4);
    expect(failures()).toHaveLength(1);
  });
});
