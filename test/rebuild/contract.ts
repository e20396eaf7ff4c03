import { beforeEach, describe, expect, it } from '@jest/globals';
import { BloomRebuildError, type BloomRebuildProgress } from '../../src/common/index.js';
import { runRebuild } from '../../src/rebuild/index.js';
import type { StoredFilter } from '../../src/store/index.js';
import { idsOf } from '../support/built-filter.js';
import { expectFound } from '../support/never-absent.js';
import { heldSource, rebuildJob, sourceOf } from '../support/rebuild-job.js';

const OLD = idsOf('old', 100);

/** What a rebuild does, in whatever store. */
export function describeRebuild(name: string, open: () => Promise<StoredFilter>): void {
  describe(`A rebuild in a ${name}`, () => {
    let store: StoredFilter;

    beforeEach(async () => {
      store = await open();
      await runRebuild(rebuildJob(store, sourceOf(OLD)));
    });

    async function expectOldFilter() {
      await expectFound([store], OLD);
      expect(await store.check(['nothing'])).toEqual(['absent']);
      expect((await store.describe()).builds).toBe(1);
      // The lease is free again.
      const next = await runRebuild(rebuildJob(store, sourceOf(OLD)));
      expect(next.outcome).toBe('published');
    }

    async function failure(run: Promise<unknown>): Promise<BloomRebuildError> {
      const error = await run.then(
        () => new Error('The run published.'),
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(BloomRebuildError);
      return error as BloomRebuildError;
    }

    it('puts exactly the ids of the source in the place of the old ones', async () => {
      const ids = idsOf('new', 5000);
      const job = rebuildJob(store, sourceOf(ids.slice(0, 2000), ids.slice(2000)), { capacity: 10_000 });
      const report = await runRebuild(job);
      expect(report).toMatchObject({
        outcome: 'published',
        ids: 5000,
        idsRead: 5000,
        capacity: 10_000,
        replans: 0,
      });
      await expectFound([store], ids);
      expect(new Set(await store.check(OLD))).toEqual(new Set(['absent']));
      expect(await store.describe()).toMatchObject({
        builds: 2,
        builtIds: 5000,
        count: 5000,
        capacity: 10_000,
      });
    });

    it('takes ids one by one, in batches, of all kinds, and twice', async () => {
      const job = rebuildJob(
        store,
        sourceOf('a', ['b', 7], 8n, [], new Uint8Array([99]), 'a', ['b', '7'], idsOf('x', 100)),
      );
      expect(await runRebuild(job)).toMatchObject({ ids: 108, distinctIds: 105, idsRead: 108 });
      await expectFound([store], ['a', 'b', '7', '8', 'c']);
    });

    it('tells its phases in order, and how far the scan is', async () => {
      const seen: BloomRebuildProgress[] = [];
      const ids = idsOf('new', 900);
      const source = { ...sourceOf(ids), count: async () => 900 };
      const job = rebuildJob(store, source);
      await runRebuild(job, { onProgress: (progress) => seen.push(progress) });
      const phases = [...new Set(seen.map(({ phase }) => phase))];
      expect(phases).toEqual(['staging', 'draining', 'scanning', 'merging', 'verifying', 'swapping']);
      expect(seen.at(-1)).toMatchObject({ idsRead: 900, share: 1, remainingMs: 0 });
      const types = job.events.map(({ type }) => type).filter((type) => type !== 'rebuild-progress');
      expect(types).toEqual(['rebuild-started', 'rebuild-finished']);
    });

    it('plans for more ids when there are more than the plan, and keeps the error rate', async () => {
      const ids = idsOf('many', 10_000);
      const job = rebuildJob(store, sourceOf(ids, ids.slice(0, 5000)), { errorRate: 0.01 });
      const report = await runRebuild(job);
      expect(report).toMatchObject({ outcome: 'published', replans: 1 });
      await expectFound([store], ids);
      const absent = await store.check(idsOf('nothing', 20_000));
      // 200 expected at most, standard deviation 14.
      expect(absent.filter((verdict) => verdict === 'maybe').length).toBeLessThan(290);
      expect(job.events.map(({ type }) => type)).toContain('rebuild-replanned');
    });

    it('sizes the filter by count(), or by the last build, when they are larger than the capacity', async () => {
      const ids = idsOf('many', 3000);
      const counted = rebuildJob(store, { ...sourceOf(ids), count: async () => 3000 });
      expect(await runRebuild(counted)).toMatchObject({ replans: 0, capacity: 3300 });
      const remembered = rebuildJob(store, sourceOf(ids));
      expect(await runRebuild(remembered)).toMatchObject({ replans: 0, capacity: 3300 });
    });

    it.each([
      [
        'throws at first',
        'source-failed',
        () => ({
          ids: () => {
            throw new Error('no table');
          },
        }),
      ],
      [
        'throws in the middle',
        'source-failed',
        () => ({
          async *ids() {
            yield OLD;
            throw new Error('no table');
          },
        }),
      ],
      ['gives no ids to iterate over', 'source-failed', () => ({ ids: () => OLD as never })],
      ['returns what is no id', 'bad-id', () => sourceOf([...OLD, null as never])],
      ['returns an id that is too long', 'bad-id', () => sourceOf([...OLD, 'x'.repeat(65)])],
      ['returns nothing', 'too-few-ids', () => sourceOf()],
      ['returns far fewer ids than before', 'too-few-ids', () => sourceOf(OLD.slice(0, 49))],
    ] as const)('leaves the old filter live when the source %s', async (_, reason, source) => {
      const job = rebuildJob(store, source());
      const error = await failure(runRebuild(job));
      expect(error.reason).toBe(reason);
      expect(error.message).toContain("filter 'products'");
      expect(job.events.at(-1)).toEqual({ type: 'rebuild-failed', filter: 'products', error });
      await expectOldFilter();
    });

    it('publishes few ids, or none, when it is forced or when minRatio says so', async () => {
      expect(await runRebuild(rebuildJob(store, sourceOf('one')), { force: true })).toMatchObject({ ids: 1 });
      await runRebuild(rebuildJob(store, sourceOf(OLD)));
      expect(await runRebuild(rebuildJob(store, sourceOf(), { minRatio: 0 }))).toMatchObject({ ids: 0 });
      expect(await store.check(OLD.slice(0, 3))).toEqual(['absent', 'absent', 'absent']);
    });

    it('ends at once when it is told to, even while the source hangs', async () => {
      const held = heldSource(OLD);
      const abort = new AbortController();
      const run = runRebuild(rebuildJob(store, held.source), { signal: abort.signal });
      await held.reached;
      abort.abort(new Error('enough'));
      const error = await failure(run);
      expect(error.reason).toBe('aborted');
      expect(error.message).toContain('enough');
      await expectOldFilter();
    });

    it('ends at once when it is told to while the source counts', async () => {
      const abort = new AbortController();
      let count!: () => void;
      const counting = new Promise<void>((resolve) => (count = resolve));
      const hangs = () => {
        count();
        return new Promise<number>(() => {});
      };
      const run = runRebuild(rebuildJob(store, { ...sourceOf(OLD), count: hangs }), { signal: abort.signal });
      await counting;
      abort.abort();
      expect((await failure(run)).reason).toBe('aborted');
      await expectOldFilter();
    });

    it('fails when the source gives nothing for too long, tells it to stop, and lets the next run begin', async () => {
      let told: AbortSignal | undefined;
      const hanging = {
        async *ids({ signal }: { signal: AbortSignal }) {
          told = signal;
          yield OLD;
          await new Promise(() => {});
        },
      };
      const error = await failure(runRebuild(rebuildJob(store, hanging, { stallMs: 40 })));
      expect(error.reason).toBe('source-failed');
      expect(error.message).toContain('rebuild.stallMs');
      expect(told?.aborted).toBe(true);
      await expectOldFilter();
      const counting = { ...sourceOf(OLD), count: () => new Promise<number>(() => {}) };
      const counted = rebuildJob(store, counting, { stallMs: 40 });
      expect(await runRebuild(counted)).toMatchObject({ outcome: 'published' });
      expect(counted.events).toContainEqual(expect.objectContaining({ type: 'count-ignored' }));
      expect(await runRebuild(rebuildJob(store, sourceOf(OLD)))).toMatchObject({ outcome: 'published' });
    });

    it('waits for a slow source as long as it gives something now and then', async () => {
      const slow = {
        async *ids() {
          for (let i = 0; i < 8; i++) {
            await new Promise((resolve) => setTimeout(resolve, 50));
            yield OLD;
          }
        },
      };
      const run = runRebuild(rebuildJob(store, slow, { stallMs: 200 }));
      expect(await run).toMatchObject({ outcome: 'published' });
    });

    it('takes every id of a source that writes each into the same bytes', async () => {
      const ids = Array.from({ length: 3000 }, (_, i) => new Uint8Array([1, i >> 8, i]));
      const bytes = new Uint8Array(3);
      const source = {
        async *ids() {
          for (const id of ids) {
            bytes.set(id);
            yield bytes;
          }
        },
      };
      expect(await runRebuild(rebuildJob(store, source, { capacity: 3000 }))).toMatchObject({ ids: 3000 });
      await expectFound([store], ids);
    });

    it('ends at once when it is told to while it drains', async () => {
      const abort = new AbortController();
      // Otherwise the in-process store, where nothing was added yet, would not drain.
      await store.add(['new']);
      const job = rebuildJob(store, sourceOf(OLD), { drainMs: 3_600_000 });
      const run = runRebuild(job, { signal: abort.signal });
      setTimeout(() => abort.abort(), 50);
      expect((await failure(run)).reason).toBe('aborted');
      await expectOldFilter();
    });

    it('is done by one of two that start at the same time; the other says so', async () => {
      const held = heldSource(OLD);
      const first = runRebuild(rebuildJob(store, held.source));
      await held.reached;
      const other = rebuildJob(store, sourceOf(OLD));
      const report = await runRebuild(other);
      expect(report).toMatchObject({ outcome: 'skipped', reason: expect.stringContaining('Another') });
      expect(other.events.map(({ type }) => type)).toEqual(['rebuild-skipped']);
      held.release();
      expect((await first).outcome).toBe('published');
    });

    it('keeps what is added while it runs, and an id whose row becomes visible within the drain', async () => {
      const rows = [...OLD];
      const source = {
        async *ids() {
          yield [...rows];
          await store.add(['during']);
        },
      };
      await store.add(['before']);
      setTimeout(() => rows.push('before'), 30);
      await runRebuild(rebuildJob(store, source, { drainMs: 100 }));
      await expectFound([store], [...OLD, 'before', 'during']);
    });

    it('gives the event loop its turns while it reads a large batch', async () => {
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns++;
        if (!isOver) setImmediate(turn);
      };
      const ids = idsOf('many', 30_000);
      const last = ids.length - 1;
      const turnsAt = new Map<number, number>();
      for (const place of [0, last]) {
        const id = ids[place];
        const get = () => {
          turnsAt.set(place, turns);
          // However fast the machine is, the first id alone takes longer than a turn may.
          for (const end = performance.now() + 20; performance.now() < end;);
          return id;
        };
        Object.defineProperty(ids, place, { get });
      }
      turn();
      await runRebuild(rebuildJob(store, sourceOf(ids), { capacity: 30_000, errorRate: 0.01 }));
      isOver = true;
      expect(turnsAt.get(last)).toBeGreaterThan(turnsAt.get(0) as number);
    });
  });
}
