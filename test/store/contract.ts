import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomIdError, BloomRebuildError } from '../../src/common/index.js';
import { type FilterShape, planFilter } from '../../src/filter/index.js';
import type { BloomFilterStore } from '../../src/store/index.js';
import { build, commitIds, idsOf, leaseOf, mergeIds, RARE, testPlan } from '../support/built-filter.js';

/** In what stores differ. */
export interface StoreTraits {
  /** Whether the longest id belongs to what was built, and longer ones are known to be absent. Default true. */
  readonly keepsMaxIdBytes?: boolean;
  /** Size of a filter that was planned so. Default: that of the layout `blocked`. */
  readonly shapeOf?: (plan: { capacity: number; errorRate: number }) => Partial<FilterShape>;
  /** Absent ids of 10,000 that pass at least at an error rate of 1 %. Default 30. */
  readonly leastErrors?: number;
}

/** What every store does alike. `open` gives a filter that was never built. */
export function describeStoreContract(
  name: string,
  open: () => Promise<BloomFilterStore>,
  { keepsMaxIdBytes = true, shapeOf = blockedShape, leastErrors = 30 }: StoreTraits = {},
): void {
  describe(name, () => {
    let filter: BloomFilterStore;
    beforeEach(async () => {
      filter = await open();
    });
    afterEach(() => filter.close());

    async function verdict(id: string | Uint8Array) {
      return (await filter.check([id]))[0];
    }

    describe('look-ups', () => {
      it('are unknown until the filter is built', async () => {
        expect(await filter.check(['a'])).toEqual(['unknown']);
        expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
        await filter.add(['a']);
        expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
      });

      it('are unknown while the first generation is staged', async () => {
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        await mergeIds(staging, ['a']);
        expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
        await lease.release();
      });

      it('tell ids of the build from others, in order', async () => {
        await build(filter, ['a', 'b']);
        expect(await filter.check(['x', 'a', 'y', 'b', 'a'])).toEqual([
          'absent',
          'maybe',
          'absent',
          'maybe',
          'maybe',
        ]);
        expect(await verdict('a')).toBe('maybe');
        expect(await verdict('x')).toBe('absent');
      });

      it('keep to the error rate at capacity', async () => {
        const plan = { capacity: 5000, errorRate: 0.01 };
        await build(filter, idsOf('present', 5000), plan);
        const verdicts = await filter.check(idsOf('other', 10_000));
        // 100 expected, standard deviation 10.
        expect(verdicts.filter((one) => one === 'maybe').length).toBeLessThan(180);
        expect(verdicts.filter((one) => one === 'maybe').length).toBeGreaterThan(leastErrors);
        expect(verdicts).not.toContain('unknown');
      });

      it('take an empty list', async () => {
        expect(await filter.check([])).toEqual([]);
        await build(filter, ['a']);
        expect(await filter.check([])).toEqual([]);
      });

      it('serve thousands of ids over several segments, in order', async () => {
        const plan = { capacity: 700_000 };
        expect(planFilter({ ...plan, errorRate: RARE }).bytes).toBeGreaterThan(2 ** 21);
        const present = idsOf('present', 4000);
        await build(filter, present, plan);
        const verdicts = await filter.check(present.flatMap((id) => [id, `not-${id}`]));
        expect(verdicts.filter((_, i) => i % 2 === 0)).toEqual(present.map(() => 'maybe'));
        expect(verdicts.filter((one, i) => i % 2 === 1 && one !== 'absent').length).toBeLessThan(3);
      });

      it('take the bytes of an id for its text', async () => {
        await build(filter, ['naïve', '日本', new Uint8Array([0xf0, 0x9f, 0x8c, 0xb8]), 'a\0b']);
        const utf8 = ['naïve', '日本', '🌸', 'a\0b'].map((text) => new TextEncoder().encode(text));
        expect(await filter.check([...utf8, '🌸', 'naive', 'a'])).toEqual([
          'maybe',
          'maybe',
          'maybe',
          'maybe',
          'maybe',
          'absent',
          'absent',
        ]);
        await filter.add([new Uint8Array([0, 255, 128]), 'ü']);
        expect(await filter.check([new Uint8Array([0, 255, 128]), Buffer.from('ü')])).toEqual([
          'maybe',
          'maybe',
        ]);
      });

      it('give each of many concurrent calls its own verdict', async () => {
        await build(filter, idsOf('present', 100));
        const calls = idsOf('present', 150).map((id) => filter.check([id]));
        const verdicts = (await Promise.all(calls)).flat();
        expect(verdicts).toEqual([...Array(100).fill('maybe'), ...Array(50).fill('absent')]);
      });
    });

    describe('adds', () => {
      it('are found from the moment they resolve', async () => {
        await build(filter, []);
        expect(await verdict('a')).toBe('absent');
        expect(await filter.add(['a'])).toEqual([true]);
        expect(await verdict('a')).toBe('maybe');
        expect(await filter.add(['b', 'c'])).toEqual([true, true]);
        expect(await filter.check(['a', 'b', 'c', 'd'])).toEqual(['maybe', 'maybe', 'maybe', 'absent']);
      });

      it('tell whether an id was there before, within one call too', async () => {
        await build(filter, ['built']);
        expect(await filter.add(['new', 'built', 'new', 'other'])).toEqual([true, false, false, true]);
        expect(await filter.add(['new'])).toEqual([false]);
        const calls = await Promise.all([filter.add(['late']), filter.add(['late']), filter.add(['built'])]);
        expect(calls.flat().filter(Boolean)).toHaveLength(1);
      });

      it('take an empty list and thousands of ids over several segments', async () => {
        await build(filter, [], { capacity: 700_000 });
        expect(await filter.add([])).toEqual([]);
        const ids = idsOf('added', 3000);
        expect((await filter.add(ids)).filter(Boolean).length).toBeGreaterThan(2997);
        expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
        expect((await filter.describe()).count).toBeGreaterThan(2997);
      });

      it('are remembered by a generation that is being staged', async () => {
        await build(filter, ['old']);
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        await filter.add(['before the merge']);
        await mergeIds(staging, ['read']);
        await filter.add(['after the merge']);
        expect(await staging.check(['read', 'before the merge', 'after the merge', 'old'])).toEqual([
          'maybe',
          'maybe',
          'maybe',
          'absent',
        ]);
        expect(await filter.check(['before the merge', 'after the merge', 'old', 'read'])).toEqual([
          'maybe',
          'maybe',
          'maybe',
          'absent',
        ]);
        await staging.commit(1);
        await lease.release();
        expect(await filter.check(['before the merge', 'after the merge', 'old', 'read'])).toEqual([
          'maybe',
          'maybe',
          'absent',
          'maybe',
        ]);
      });

      it('are remembered by the first generation that is staged', async () => {
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        expect(await filter.add(['a'])).toEqual([true]);
        await commitIds(staging, []);
        await lease.release();
        expect(await filter.check(['a', 'b'])).toEqual(['maybe', 'absent']);
      });

      it('from before the staging are gone when the source does not have them', async () => {
        await build(filter, []);
        await filter.add(['a']);
        await build(filter, ['b']);
        expect(await filter.check(['a', 'b'])).toEqual(['absent', 'maybe']);
      });
    });

    (keepsMaxIdBytes ? describe : describe.skip)('ids that are too long', () => {
      const long = 'x'.repeat(17);
      const fits = 'x'.repeat(16);

      it('are absent, and refused by add with none of their call recorded', async () => {
        await build(filter, [], { maxIdBytes: 16 });
        expect(await filter.check([long, 'é'.repeat(9), new Uint8Array(17)])).toEqual(
          Array(3).fill('absent'),
        );
        await expect(filter.add(['a', long, 'b'])).rejects.toThrow(BloomIdError);
        await expect(filter.add([long])).rejects.toThrow(BloomIdError);
        expect(await filter.check(['a', 'b', long])).toEqual(['absent', 'absent', 'absent']);
        expect(await filter.add([fits, 'é'.repeat(8)])).toEqual([true, true]);
        expect(await filter.check([fits, 'é'.repeat(8)])).toEqual(['maybe', 'maybe']);
      });

      it('leave a call of many ids unrecorded, wherever they stand in it', async () => {
        await build(filter, [], { maxIdBytes: 16 });
        const ids = idsOf('id', 1000);
        await expect(filter.add([...ids, long])).rejects.toThrow(BloomIdError);
        expect(new Set(await filter.check(ids))).toEqual(new Set(['absent']));
      });

      it('do not fail the adds that go on at the same time', async () => {
        await build(filter, [], { maxIdBytes: 16 });
        const calls = await Promise.allSettled(['a', long, 'b'].map((id) => filter.add([id])));
        expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
        expect((calls[1] as PromiseRejectedResult).reason).toBeInstanceOf(BloomIdError);
        expect(await filter.check(['a', 'b', long])).toEqual(['maybe', 'maybe', 'absent']);
      });

      it('are refused while a generation that cannot hold them is staged', async () => {
        await build(filter, [], { maxIdBytes: 64 });
        const lease = await leaseOf(filter);
        await lease.stage(testPlan({ maxIdBytes: 16 }));
        await expect(filter.add([long])).rejects.toThrow(BloomIdError);
        expect(await filter.add([fits])).toEqual([true]);
        await lease.release();
      });
    });

    describe('generations', () => {
      it('replace one another, whatever their sizes', async () => {
        for (const [round, capacity] of [1000, 600_000, 10, 300_000].entries()) {
          const ids = idsOf(`round-${round}`, 10);
          await build(filter, ids, { capacity });
          expect(await filter.check(ids)).toEqual(ids.map(() => 'maybe'));
          expect(await filter.check(idsOf(`round-${round - 1}`, 10))).toEqual(ids.map(() => 'absent'));
        }
      });

      it('are described by what they were built with', async () => {
        expect(await filter.describe()).toMatchObject({
          state: 'unbuilt',
          shape: undefined,
          builds: 0,
          count: 0,
          builtIds: 0,
          builtAt: undefined,
          rebuilding: false,
        });
        const before = Date.now();
        const plan = { capacity: 50, errorRate: 0.002 };
        await build(filter, idsOf('id', 30), plan);
        await filter.add(['one more', 'and one more', 'id-0']);
        const found = await filter.describe();
        expect(found).toMatchObject({ state: 'ready', builds: 1, count: 32, builtIds: 30, capacity: 50 });
        expect(found).toMatchObject({ errorRate: 0.002, rebuilding: false });
        expect(found.shape).toMatchObject(shapeOf(plan));
        expect(found.shape!.modelledErrorRate).toBeLessThan(0.002);
        expect(found.builtAt!.getTime()).toBeGreaterThanOrEqual(before);
        expect(found.builtAt!.getTime()).toBeLessThanOrEqual(Date.now());
      });

      it('count their builds, their ids and the adds of the meantime', async () => {
        await build(filter, idsOf('a', 5));
        await filter.add(['gone']);
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        expect((await filter.describe()).rebuilding).toBe(true);
        await filter.add(['kept', 'kept too']);
        expect((await filter.describe()).count).toBe(8);
        await commitIds(staging, idsOf('b', 7));
        await lease.release();
        await filter.add(['later']);
        expect(await filter.describe()).toMatchObject({
          builds: 2,
          builtIds: 7,
          count: 10,
          rebuilding: false,
        });
      });
    });

    describe('a staged generation', () => {
      it('that is aborted leaves the live one as it is', async () => {
        await build(filter, ['a']);
        const { bytes } = (await filter.describe()).shape!;
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        await mergeIds(staging, ['b']);
        await filter.add(['c']);
        await staging.abort();
        await lease.release();
        expect(await filter.check(['a', 'b', 'c'])).toEqual(['maybe', 'absent', 'maybe']);
        expect(await filter.describe()).toMatchObject({ shape: { bytes }, builds: 1, rebuilding: false });
        expect(await filter.add(['d'])).toEqual([true]);
      });

      it('answers only for itself', async () => {
        await build(filter, ['live']);
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        expect(await staging.check(['live', 'staged'])).toEqual(['absent', 'absent']);
        await mergeIds(staging, ['staged']);
        expect(await staging.check(['live', 'staged'])).toEqual(['absent', 'maybe']);
        await lease.release();
      });

      it('gathers the bits of several merges', async () => {
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        await mergeIds(staging, ['a']);
        await mergeIds(staging, ['b']);
        expect(await staging.check(['a', 'b', 'c'])).toEqual(['maybe', 'maybe', 'absent']);
        await lease.release();
      });

      it('is dropped by a second one under the same lease', async () => {
        await build(filter, ['live']);
        const lease = await leaseOf(filter);
        const first = await lease.stage(testPlan());
        await mergeIds(first, ['first']);
        const second = await lease.stage(testPlan({ capacity: 5000 }));
        await filter.add(['added']);
        await expect(first.commit(1)).rejects.toThrow(BloomRebuildError);
        expect(await filter.check(['live', 'first'])).toEqual(['maybe', 'absent']);
        await commitIds(second, ['second']);
        await lease.release();
        expect(await filter.check(['added', 'second', 'first', 'live'])).toEqual([
          'maybe',
          'maybe',
          'absent',
          'absent',
        ]);
      });

      it('does not merge on when its signal aborts', async () => {
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        const reason = new Error('enough');
        await expect(staging.merge(AbortSignal.abort(reason))).rejects.toBe(reason);
        await lease.release();
      });
    });

    describe('distrust', () => {
      it('makes every look-up unknown until the next generation, which has the adds of its staging', async () => {
        await build(filter, ['a']);
        const lease = await leaseOf(filter);
        const staging = await lease.stage(testPlan());
        await filter.add(['before']);
        await filter.distrust('A reason.');
        await filter.add(['after']);
        expect(await filter.check(['a', 'before', 'after', 'x'])).toEqual(Array(4).fill('unknown'));
        expect(await filter.describe()).toMatchObject({
          state: 'suspect',
          shape: undefined,
          builtIds: 1,
        });
        await filter.distrust('Another reason.');
        await commitIds(staging, ['a']);
        await lease.release();
        expect(await filter.describe()).toMatchObject({ state: 'ready', builds: 2 });
        expect(await filter.check(['a', 'before', 'after', 'x'])).toEqual([
          'maybe',
          'maybe',
          'maybe',
          'absent',
        ]);
      });

      it('leaves a filter alone that was never built', async () => {
        await filter.distrust('A reason.');
        expect(await filter.describe()).toMatchObject({ state: 'unbuilt' });
      });
    });

    describe('the lease', () => {
      it('is held by one at a time', async () => {
        const lease = await leaseOf(filter);
        expect(await filter.lease({ leaseMs: 1000 })).toBeUndefined();
        expect(lease.signal.aborted).toBe(false);
        await lease.release();
        const next = await leaseOf(filter);
        await next.release();
      });
    });
  });
}

function blockedShape(plan: { capacity: number; errorRate: number }): Partial<FilterShape> {
  const { hashCount, bytes } = planFilter(plan);
  return { hashCount, bytes };
}
