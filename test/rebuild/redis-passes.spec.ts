import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packableIds, type BloomIdSource, type RebuildJob } from '../../src/rebuild/index.js';
import { runRebuild } from '../../src/rebuild/run-rebuild.js';
import { PartitioningStore } from '../../src/store/partitions/index.js';
import type { StoredFilter } from '../../src/store/index.js';
import { openOptions } from '../support/open-options.js';
import { rebuildJob } from '../support/rebuild-job.js';
import { RedisFixture } from '../support/redis-fixture.js';

const MIB = 2 ** 20;
const IDS = Array.from({ length: 5_000 }, (_, i) => `id-${i}`);
/** A capacity that needs more than three MiB at the error rate of a test. */
const LARGE: Partial<RebuildJob> = { capacity: 1_000_000, memoryBytes: MIB };

let redis: RedisFixture;
beforeAll(async () => {
  redis = await RedisFixture.start();
});
afterAll(() => redis.close());

/** A source that returns other ids in each reading, and what happened at its beginning. */
function readings(read: (reading: number) => readonly string[] | Promise<readonly string[]>) {
  const source = {
    readings: 0,
    async *ids() {
      yield await read(source.readings++);
    },
  };
  return source satisfies BloomIdSource;
}

async function allFound(store: StoredFilter, ids: readonly string[]): Promise<boolean> {
  return (await store.check(ids)).every((verdict) => verdict === 'maybe');
}

async function open() {
  return redis.open(redis.name());
}

describe('A rebuild in several passes', () => {
  it('finds every id, and counts each once', async () => {
    const { filter } = await open();
    const source = readings(() => [...IDS, 'id-0']);
    const job = rebuildJob(filter, source, LARGE);
    const report = await runRebuild(job);
    expect(source.readings).toBe(4);
    expect(job.events).toContainEqual(expect.objectContaining({ type: 'rebuild-started', passes: 4 }));
    expect(report).toMatchObject({ idsRead: 5_001, ids: 5_001, distinctIds: 5_000, replans: 0 });
    expect(await allFound(filter, IDS)).toBe(true);
    const absent = await filter.check(IDS.map((id) => `no-${id}`));
    expect(absent.every((verdict) => verdict === 'absent')).toBe(true);
  });

  it('takes as many passes as the memory needs, and one where it is enough', async () => {
    const { filter } = await open();
    for (const [memoryBytes, passes] of [
      [2 * MIB, 2],
      [3.9 * MIB, 2],
      [4 * MIB, 1],
      [Infinity, 1],
      [1, 4],
    ] as const) {
      const source = readings(() => IDS);
      const job = rebuildJob(filter, source, { ...LARGE, memoryBytes });
      await runRebuild(job);
      expect(source.readings).toBe(passes);
      const started = job.events.find(({ type }) => type === 'rebuild-started');
      expect((started as { passes?: number }).passes).toBe(passes === 1 ? undefined : passes);
      expect(await allFound(filter, IDS)).toBe(true);
    }
  });

  it('takes packed ids', async () => {
    const { filter } = await open();
    const source: BloomIdSource = {
      ids: () =>
        packableIds(async function* () {
          let end = 0;
          const ends = Uint32Array.from(IDS, (id) => (end += id.length));
          yield { bytes: Buffer.from(IDS.join('')), ends, count: IDS.length, areText: true };
        }, undefined),
    };
    const report = await runRebuild(rebuildJob(filter, source, { ...LARGE, spellsAs: () => true }));
    expect(report).toMatchObject({ distinctIds: 5_000 });
    expect(await allFound(filter, IDS)).toBe(true);
  });

  it('keeps what is added while it runs, and rows that a later pass alone has seen', async () => {
    const { filter } = await open();
    const added: string[] = [];
    const source = readings(async (reading) => {
      const ids = Array.from({ length: 20 }, (_, i) => `added-${reading}-${i}`);
      await filter.add(ids);
      added.push(...ids);
      // Rows become visible one pass after their ids were added.
      return [...IDS, ...added.slice(0, -20)];
    });
    await runRebuild(rebuildJob(filter, source, LARGE));
    expect(added).toHaveLength(80);
    expect(await allFound(filter, [...IDS, ...added])).toBe(true);
  });

  it('refuses a pass that has seen fewer rows than one before it, unless it is forced', async () => {
    const { filter } = await open();
    await runRebuild(
      rebuildJob(
        filter,
        readings(() => IDS),
        LARGE,
      ),
    );
    const shrinking = () => readings((reading) => IDS.slice(0, reading === 2 ? 4_400 : 5_000));
    await expect(runRebuild(rebuildJob(filter, shrinking(), LARGE))).rejects.toMatchObject({
      reason: 'too-few-ids',
      message: expect.stringContaining('Pass 3 of 4 over the source read 4,400 ids, one before it 5,000'),
    });
    expect(await allFound(filter, IDS)).toBe(true);
    await runRebuild(rebuildJob(filter, shrinking(), LARGE), { force: true });
    expect(await allFound(filter, IDS.slice(0, 4_400))).toBe(true);
  });

  it('accepts the few rows that are deleted meanwhile', async () => {
    const { filter } = await open();
    await runRebuild(
      rebuildJob(
        filter,
        readings((reading) => IDS.slice(100 * reading)),
        LARGE,
      ),
    );
    expect(await allFound(filter, IDS.slice(300))).toBe(true);
  });

  it('fails with a source that fails in a later pass, and leaves the live filter', async () => {
    const { filter } = await open();
    await runRebuild(
      rebuildJob(
        filter,
        readings(() => IDS),
        LARGE,
      ),
    );
    const failing = readings((reading) => {
      if (reading === 3) throw new Error('no connection');
      return IDS;
    });
    await expect(runRebuild(rebuildJob(filter, failing, LARGE))).rejects.toMatchObject({
      reason: 'source-failed',
    });
    expect(await allFound(filter, IDS)).toBe(true);
  });

  it('leaves out ids that cannot be added, and says so once', async () => {
    const { filter } = await open();
    const source = readings(() => [...IDS, 'x'.repeat(65)]);
    const job = rebuildJob(filter, source, { ...LARGE, onBadId: 'skip' });
    expect(await runRebuild(job)).toMatchObject({ idsRead: 5_001, ids: 5_000, distinctIds: 5_000 });
    expect(job.events.filter(({ type }) => type === 'ids-skipped')).toEqual([
      expect.objectContaining({ skipped: 1 }),
    ]);
  });

  it('plans again when the source returns more ids than planned', async () => {
    const { filter } = await open();
    const many = Array.from({ length: 400_000 }, (_, i) => `many-${i}`);
    const source = readings(() => many);
    const job = rebuildJob(filter, source, { capacity: 300_000, memoryBytes: MIB, errorRate: 1e-6 });
    const report = await runRebuild(job);
    expect(job.events.find(({ type }) => type === 'rebuild-started')).toMatchObject({ passes: 2 });
    expect(report).toMatchObject({ replans: 1 });
    const { distinctIds } = report as { distinctIds: number };
    // One that passes by chance counts as one that was there.
    expect(Math.abs(distinctIds - many.length)).toBeLessThan(10);
    expect(await allFound(filter, many)).toBe(true);
  });

  it('fills the parts of a partitioned filter', async () => {
    const name = redis.name();
    const { store } = await redis.open(name);
    const filter = new PartitioningStore(store).open(openOptions({ name, partitions: 2 }));
    const source = readings(() => IDS);
    const job = rebuildJob(filter, source, { ...LARGE, memoryBytes: 2 * MIB });
    const report = await runRebuild(job);
    expect([source.readings, (report as { distinctIds: number }).distinctIds]).toEqual([2, 5_000]);
    expect(await allFound(filter, IDS)).toBe(true);
    const absent = await filter.check(IDS.map((id) => `no-${id}`));
    expect(absent.every((verdict) => verdict === 'absent')).toBe(true);
  });
});
