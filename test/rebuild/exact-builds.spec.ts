import { describe, expect, it } from '@jest/globals';
import { type BloomIdSource, runRebuild } from '../../src/rebuild/index.js';
import { BlockedFilter, type BloomId, generationOf, isOutgrown } from '../../src/filter/index.js';
import { MemoryStore } from '../../src/store/memory/index.js';
import { openOptions } from '../support/open-options.js';
import { rebuildJob, type TestJob } from '../support/rebuild-job.js';

const BLOCKED = 1e-3;

/** A table of ids in their order, as sources of tables read it. */
function tableOf(
  ids: readonly BloomId[],
  says: Partial<BloomIdSource> & { counts?: number } = {},
): BloomIdSource {
  const { counts = ids.length, ...members } = says;
  return {
    async *ids() {
      yield ids;
    },
    async *idsSince() {
      yield [];
      yield ids;
    },
    newest: async (others = 0) => ids[ids.length - 1 - others] as number,
    count: async () => counts,
    ...members,
  };
}

const integers = (count: number, step = 1, first = 1) =>
  Array.from({ length: count }, (_, i) => first + i * step);

async function built(source: BloomIdSource, options: Partial<TestJob> = {}) {
  const store = new MemoryStore().open(openOptions());
  const job = rebuildJob(store, source, { errorRate: BLOCKED, mayBeExact: true, ...options });
  const report = await runRebuild(job);
  const verdicts = async (ids: readonly BloomId[]) => store.check(ids.map((id) => job.toKey(id)));
  const { shape, capacity } = await store.describe();
  return { store, job, report, verdicts, shape: shape!, capacity };
}

describe('A build of integers', () => {
  it('gives each a bit, where at least one in fifteen exists', async () => {
    const { shape, verdicts } = await built(tableOf(integers(10_000, 15)));
    expect(shape).toMatchObject({ isExact: true, hashCount: 1, modelledErrorRate: 0 });
    expect(await verdicts([1, 16, 149_986])).toEqual(['maybe', 'maybe', 'maybe']);
    const absent = integers(140_000, 1, 2).filter((id) => id % 15 !== 1);
    expect((await verdicts(absent)).filter((verdict) => verdict !== 'absent')).toEqual([]);
  });

  it('hashes them, where fewer exist', async () => {
    const { shape } = await built(tableOf(integers(10_000, 16)));
    expect(shape.isExact).toBeUndefined();
  });

  it.each([
    ['begin far from 0', 4_000_000_000],
    ['are negative', -5_000],
    ['are the largest that are safe', Number.MAX_SAFE_INTEGER - 20_000],
  ])('takes integers that %s', async (_, first) => {
    const ids = integers(5_000, 2, first);
    const { shape, verdicts } = await built(tableOf(ids));
    expect(shape.isExact).toBe(true);
    expect(new Set(await verdicts(ids))).toEqual(new Set(['maybe']));
    expect(new Set(await verdicts(ids.map((id) => id + 1)))).toEqual(new Set(['absent']));
  });

  it('takes bigints and texts of digits', async () => {
    for (const form of [BigInt, String] as ((id: number) => BloomId)[]) {
      const { shape, verdicts } = await built(tableOf(integers(5_000).map((id) => form(id))));
      expect(shape.isExact).toBe(true);
      expect(await verdicts([5_000, 5_000n, '5000', 5_001, '05000'])).toEqual([
        'maybe',
        'maybe',
        'maybe',
        'absent',
        'absent',
      ]);
    }
  });

  it('takes at most a tenth of what hashed ids take', async () => {
    const ids = integers(100_000);
    const [exact, hashed] = [await built(tableOf(ids)), await built(tableOf(ids), { mayBeExact: false })];
    expect(hashed.shape.isExact).toBeUndefined();
    expect(exact.shape.bytes).toBeLessThan(hashed.shape.bytes / 10);
  });

  it('has room for those that come later, and hashes those that come after', async () => {
    const { store, verdicts, capacity } = await built(tableOf(integers(10_000)));
    expect(capacity).toBe(11_000);
    await store.add(integers(1_000, 1, 10_001).map(String));
    expect(await verdicts(integers(500, 1, 11_001))).toEqual(Array(500).fill('absent'));
    const later = integers(100, 1, 1_000_000);
    await store.add(later.map(String));
    expect(await verdicts(later)).toEqual(Array(100).fill('maybe'));
    expect(
      (await verdicts(integers(10_000, 1, 2_000_000))).filter((one) => one === 'maybe').length,
    ).toBeLessThan(100);
  });

  it('hashes the rows that are far ahead of all others, and values that are none', async () => {
    const ids: BloomId[] = [...integers(10_000), 2n ** 60n, 'sku'];
    const { shape, verdicts, report } = await built(
      tableOf(ids, { newest: async (others = 0) => integers(10_000).at(-1 - Math.max(0, others - 2)) }),
    );
    expect(shape.isExact).toBe(true);
    expect(report).toMatchObject({ replans: 0, ids: 10_002 });
    expect(await verdicts([2n ** 60n, 'sku', 'another', 2n ** 60n + 1n])).toEqual([
      'maybe',
      'maybe',
      'absent',
      'absent',
    ]);
  });

  it('is hashed after all, if the source has many others', async () => {
    const ids = [...integers(5_000), ...integers(5_000, 1_000, 1_000_000)];
    const { shape, report, verdicts, job } = await built(tableOf(ids, { newest: async () => 5_000 }));
    expect(shape.isExact).toBeUndefined();
    expect(report).toMatchObject({ replans: 1 });
    expect(job.events.map(({ type }) => type)).toContain('rebuild-replanned');
    expect(new Set(await verdicts(ids))).toEqual(new Set(['maybe']));
  });

  it('never goes live before its ids are merged, however often it is asked whether it is outgrown', async () => {
    const asked = [true, false, false];
    const store = new MemoryStore().open(openOptions());
    const lease = store.lease.bind(store);
    store.lease = async (request) => {
      const held = (await lease(request))!;
      const stage = async (plan: Parameters<typeof held.stage>[0]) => {
        const staging = await held.stage(plan);
        return Object.defineProperty(staging, 'isOutgrown', { get: () => asked.shift() ?? false });
      };
      return { ...held, stage };
    };
    const ids = integers(2_000);
    const job = rebuildJob(store, tableOf(ids), { errorRate: BLOCKED, mayBeExact: true });
    expect(await runRebuild(job)).toMatchObject({ replans: 1 });
    expect(new Set(await store.check(ids.map(String)))).toEqual(new Set(['maybe']));
  });

  it('goes live, though a row that it has read was deleted and its id removed before it was verified', async () => {
    const store = new MemoryStore().open(openOptions());
    let ids = integers(200);
    const source: BloomIdSource = {
      ...tableOf(ids),
      async *idsSince(mark) {
        yield ids.filter((id) => mark === undefined || id > Number(mark));
      },
    };
    const lease = store.lease.bind(store);
    store.lease = async (request) => {
      const held = (await lease(request))!;
      const stage = async (plan: Parameters<typeof held.stage>[0]) => {
        const staging = await held.stage(plan);
        const check = staging.check.bind(staging);
        return Object.assign(staging, {
          check: async (keys: Parameters<typeof check>[0]) => {
            ids = ids.filter((id) => id !== 7);
            await store.remove!(['7']);
            return check(keys);
          },
        });
      };
      return { ...held, stage };
    };
    await runRebuild(rebuildJob(store, source, { errorRate: BLOCKED, mayBeExact: true }));
    expect(await store.check(['6', '7', '8'])).toEqual(['maybe', 'absent', 'maybe']);
  });

  it('has the same say about ids outside of its range, however many blocks they are in', () => {
    const generation = generationOf({
      capacity: 1,
      errorRate: BLOCKED,
      maxIdBytes: 64,
      range: { first: 1, integers: 20_000_000 },
    });
    const filter = new BlockedFilter(generation);
    for (let i = 0; i < 50_400; i++) filter.add(`text-${i}`);
    const said = Array.from({ length: 10 }, () => isOutgrown(filter, BLOCKED));
    expect(new Set(said).size).toBe(1);
  });

  it('is planned again, if the source has more of them than it said', async () => {
    const ids = integers(50_000);
    for (const says of [{ counts: 25_000 }, { counts: 10_000, newest: async () => 10_000 }]) {
      const { shape, report, verdicts } = await built(tableOf(ids, says));
      expect(shape.isExact).toBe(true);
      expect(report).toMatchObject({ replans: 1 });
      expect(new Set(await verdicts(ids))).toEqual(new Set(['maybe']));
    }
  });

  it.each<[what: string, says: Partial<BloomIdSource>]>([
    ['the order is that of a date', { newest: async () => new Date() }],
    [
      'rows are ordered by another value',
      {
        idsSince: async function* () {
          yield { ids: [1], mark: 1 };
        },
      },
    ],
    ['the source has no order', { idsSince: undefined, newest: undefined }],
    [
      'ids are texts',
      {
        idsSince: async function* () {
          yield ['a'];
        },
      },
    ],
    ['the newest is before the first', { newest: async () => -1 }],
    ['there is no row', { count: async () => 0 }],
  ])('is hashed, if %s', async (_, says) => {
    const { shape, job } = await built(tableOf(integers(5_000), says));
    expect(shape.isExact).toBeUndefined();
    expect(job.events.map(({ type }) => type)).not.toContain('count-ignored');
  });

  it('is hashed, with an event, if the source cannot say where they end', async () => {
    const newest = async () => {
      throw new Error('no connection');
    };
    const { shape, job } = await built(tableOf(integers(5_000), { newest }));
    expect(shape.isExact).toBeUndefined();
    expect(job.events).toContainEqual(expect.objectContaining({ type: 'count-ignored' }));
  });

  it('is hashed, if it would take more than maxBytes, or than the memory of one pass', async () => {
    for (const limits of [{ maxBytes: 100_000 }, { memoryBytes: 100_000 }]) {
      const { shape } = await built(tableOf(integers(100_000, 14)), { ...limits, capacity: 1 }).catch(
        (error: Error) => ({
          shape: { isExact: error.message.includes('maxBytes') ? undefined : true },
        }),
      );
      expect(shape.isExact).toBeUndefined();
    }
  });

  it('removes one that is gone, and none that is hashed', async () => {
    const { store, verdicts } = await built(tableOf([...integers(5_000), 'sku']));
    const { count } = await store.describe();
    expect(await store.remove!(['7', '9999', 'sku', '7'])).toEqual([true, false, false, false]);
    expect(await verdicts([6, 7, 8, 'sku'])).toEqual(['maybe', 'absent', 'maybe', 'maybe']);
    expect((await store.describe()).count).toBe(count - 1);
    expect(await store.add(['7'])).toEqual([true]);
    expect(await verdicts([7])).toEqual(['maybe']);
  });
});
