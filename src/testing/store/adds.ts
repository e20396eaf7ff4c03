import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { BloomUnavailableError } from '../../common/index.js';
import { build, commitIds, idsOf, leaseOf, mergeIds, testPlan } from './built-filter.js';
import type { StoreTraits } from './store-traits.js';

export function adds(open: OpenFilter, { takesAddsUnready = true }: StoreTraits = {}): StoreContractCase[] {
  return casesOf('adds', open, (it) => {
    it('are found from the moment they resolve', async (filter) => {
      await build(filter, []);
      expect(await filter.check(['a'])).toEqual(['absent']);
      expect(await filter.add(['a'])).toEqual([true]);
      expect(await filter.check(['a'])).toEqual(['maybe']);
      expect(await filter.add(['b', 'c'])).toEqual([true, true]);
      expect(await filter.check(['a', 'b', 'c', 'd'])).toEqual(['maybe', 'maybe', 'maybe', 'absent']);
    });

    it('tell whether an id was there before, within one call too', async (filter) => {
      await build(filter, ['built']);
      expect(await filter.add(['new', 'built', 'new', 'other'])).toEqual([true, false, false, true]);
      expect(await filter.add(['new'])).toEqual([false]);
      const calls = await Promise.all([filter.add(['late']), filter.add(['late']), filter.add(['built'])]);
      expect(calls.flat().filter(Boolean)).toHaveLength(1);
    });

    it('take an empty list and thousands of ids over several segments', async (filter) => {
      await build(filter, [], { capacity: 700_000 });
      expect(await filter.add([])).toEqual([]);
      const ids = idsOf('added', 3000);
      expect((await filter.add(ids)).filter(Boolean).length).toBeGreaterThan(2997);
      expect(new Set(await filter.check(ids))).toEqual(new Set(['maybe']));
      expect((await filter.describe()).count).toBeGreaterThan(2997);
    });

    it('are remembered by a generation that is being staged', async (filter) => {
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

    it('are remembered by the first generation that is staged', async (filter) => {
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      const added = filter.add(['a']);
      if (takesAddsUnready) expect(await added).toEqual([true]);
      else await expect(added).rejects.toThrow(BloomUnavailableError);
      await commitIds(staging, []);
      await lease.release();
      expect(await filter.check(['a', 'b'])).toEqual([takesAddsUnready ? 'maybe' : 'absent', 'absent']);
    });

    it('from before the staging are gone when the source does not have them', async (filter) => {
      await build(filter, []);
      await filter.add(['a']);
      await build(filter, ['b']);
      expect(await filter.check(['a', 'b'])).toEqual(['absent', 'maybe']);
    });
  });
}
