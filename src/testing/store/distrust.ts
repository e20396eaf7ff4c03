import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { BloomUnavailableError } from '../../common/index.js';
import { build, commitIds, leaseOf, testPlan } from './built-filter.js';
import type { StoreTraits } from './store-traits.js';

export function distrust(
  open: OpenFilter,
  { takesAddsUnready = true }: StoreTraits = {},
): StoreContractCase[] {
  return casesOf('distrust', open, (it) => {
    it('makes every lookup unknown until the next generation, which has the adds of its staging', async (filter) => {
      await build(filter, ['a']);
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      await filter.add(['before']);
      await filter.distrust('A reason.');
      const added = filter.add(['after']);
      if (takesAddsUnready) await added;
      else await expect(added).rejects.toThrow(BloomUnavailableError);
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
        takesAddsUnready ? 'maybe' : 'absent',
        'absent',
      ]);
    });

    it('leaves a filter alone that was never built', async (filter) => {
      await filter.distrust('A reason.');
      expect(await filter.describe()).toMatchObject({ state: 'unbuilt' });
    });
  });
}
