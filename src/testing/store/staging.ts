import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { BloomRebuildError } from '../../common/index.js';
import { build, commitIds, leaseOf, mergeIds, testPlan } from './built-filter.js';

export function staging(open: OpenFilter): StoreContractCase[] {
  const generation = casesOf('a staged generation', open, (it) => {
    it('that is aborted leaves the live one as it is', async (filter) => {
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

    it('answers only for itself', async (filter) => {
      await build(filter, ['live']);
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      expect(await staging.check(['live', 'staged'])).toEqual(['absent', 'absent']);
      await mergeIds(staging, ['staged']);
      expect(await staging.check(['live', 'staged'])).toEqual(['absent', 'maybe']);
      await lease.release();
    });

    it('gathers the bits of several merges', async (filter) => {
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      await mergeIds(staging, ['a']);
      await mergeIds(staging, ['b']);
      expect(await staging.check(['a', 'b', 'c'])).toEqual(['maybe', 'maybe', 'absent']);
      await lease.release();
    });

    it('is dropped by a second one under the same lease', async (filter) => {
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

    it('does not merge on when its signal aborts', async (filter) => {
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      const reason = new Error('enough');
      await expect(staging.merge(AbortSignal.abort(reason))).rejects.toBe(reason);
      await lease.release();
    });
  });

  const lease = casesOf('the lease', open, (it) => {
    it('is held by one at a time', async (filter) => {
      const lease = await leaseOf(filter);
      expect(await filter.lease({ leaseMs: 1000 })).toBeUndefined();
      expect(lease.signal.aborted).toBe(false);
      await lease.release();
      const next = await leaseOf(filter);
      await next.release();
    });
  });
  return [...generation, ...lease];
}
