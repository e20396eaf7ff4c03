import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomEvent,
  type BloomFilter,
  BloomIdError,
  BloomModule,
  type BloomRebuildSchedule,
  BloomService,
  type BloomTopUpOptions,
  BloomUnavailableError,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { GAP, GrowingTable } from '../support/growing-table.js';
import { startContext } from '../support/nest-app.js';

const QUICK = { everyMs: 20, overlapMs: 200 } satisfies BloomTopUpOptions;

describe('Processes that each have a covered filter in memory', () => {
  let table: GrowingTable;
  const events: BloomEvent[] = [];
  const opened: TestingModule[] = [];
  beforeEach(() => {
    table = new GrowingTable();
    events.length = 0;
  });
  afterEach(() => Promise.all(opened.splice(0).map((module) => module.close())));

  async function start(
    topUp: BloomTopUpOptions = QUICK,
    rebuild: BloomRebuildSchedule = { drainMs: 100 },
  ): Promise<BloomFilter> {
    const module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'orders',
            capacity: 1000,
            errorRate: 1e-6,
            source: table.source(),
            rebuild,
            topUp,
          },
        ]),
      ],
    });
    opened.push(module);
    return module.get(BloomService).filter('orders');
  }
  const markOf = async (filter: BloomFilter) => Number((await filter.info()).outside?.mark);
  const hasMark = (filter: BloomFilter) =>
    eventually('the mark is there', async () => (await markOf(filter)) === table.place);

  it('take ids of new rows at any time, from the first moment on', async () => {
    table.fill(300);
    const filters = [await start(), await start()];
    for (let i = 0; i < 400; i++) {
      const id = table.nextId();
      await filters[i % 2]!.add(id);
      for (const filter of filters) expect(await filter.check(id)).not.toBe('absent');
      table.commit(id);
      if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, QUICK.everyMs));
    }
    for (const filter of filters) await hasMark(filter);
    for (const filter of filters)
      expect(new Set(await filter.checkMany(table.ids))).toEqual(new Set(['maybe']));
  });

  it('take ids that they have read, and refuse ids that others may have passed', async () => {
    table.fill(300);
    const filter = await start();
    await hasMark(filter);
    expect(await filter.addMany([1, 150, 300])).toEqual([false, false, false]);
    const adding = filter.add(GAP);
    await expect(adding).rejects.toThrow(BloomIdError);
    await expect(adding).rejects.toThrow(/comes after '200'.*got '7'.*rebuild/s);
    await expect(filter.addMany([1000, GAP])).rejects.toThrow(BloomIdError);
    expect(await filter.checkMany([1000, GAP])).not.toContain('maybe');
    await expect(filter.add('seven')).rejects.toThrow(BloomIdError);
    expect(await filter.add(1000)).toBe(true);
  });

  it('do not know of them before the first build, in which new ones are taken', async () => {
    table.fill(300);
    const filter = await start({ ...QUICK, overlapMs: 60_000 });
    await expect(filter.add(GAP)).rejects.toThrow(BloomUnavailableError);
    expect(await filter.add(301)).toBe(true);
  });

  it.each([0, 1, 2, 30, 150])('know where others may be in a table of %d rows', async (rows) => {
    for (let i = 0; i < 2 * rows; i++)
      if (i % 2) table.insert();
      else table.nextId();
    const filter = await start();
    const other = await start();
    for (let id = 1; id <= 2 * rows + 1; id++) {
      const isAdded = await filter.add(id).then(
        () => true,
        () => false,
      );
      if (!isAdded || table.ids.includes(id)) continue;
      table.commit(id);
      expect(await other.check(id)).not.toBe('absent');
    }
    expect(await filter.add(2 * rows + 2)).toBe(true);
  });

  it('take any id when ids have begun again, as soon as that was noticed', async () => {
    table.fill(300);
    const filter = await start();
    await hasMark(filter);
    table.restart((fresh) => fresh.fill(50));
    await eventually('it is noticed', () => events.some(({ type }) => type === 'mark-moved-back'));
    await eventually('an id is taken', () =>
      filter.add(60).then(
        () => true,
        () => false,
      ),
    );
  });

  it('refuse what is so far ahead that others answer "absent"', async () => {
    table.fill(300);
    const filter = await start({ ...QUICK, beyond: 'absent', slack: 100 });
    await hasMark(filter);
    await expect(filter.add(402)).rejects.toThrow(/after '200', up to 400, .*got '402'/);
    expect(await filter.add(399)).toBe(true);
  });

  it('do not know while the source cannot be read', async () => {
    table.fill(300);
    const filter = await start();
    await hasMark(filter);
    table.fails = true;
    await eventually('nothing is known any more', async () => {
      const error = await filter.add(table.nextId()).catch((thrown: unknown) => thrown);
      return error instanceof BloomUnavailableError;
    });
    table.fails = false;
    expect(await filter.add(table.nextId())).toBe(true);
  });

  it('do not start with a wait for the mark that is longer than a build may stand still', async () => {
    await expect(start({ overlapMs: 5000 }, { drainMs: 8000, stallMs: 9000 })).rejects.toThrow(
      /Filter 'orders': expected rebuild\.stallMs above 10500, got 9000/,
    );
  });
});
