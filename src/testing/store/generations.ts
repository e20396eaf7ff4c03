import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { build, commitIds, idsOf, leaseOf, testPlan } from './built-filter.js';
import type { StoreTraits } from './store-traits.js';

export function generations(
  open: OpenFilter,
  { shapeOf = () => ({}), capacityOf = (planned) => planned }: StoreTraits,
): StoreContractCase[] {
  return casesOf('generations', open, (it) => {
    it('replace one another, whatever their sizes', async (filter) => {
      for (const [round, capacity] of [1000, 600_000, 10, 300_000].entries()) {
        const ids = idsOf(`round-${round}`, 10);
        await build(filter, ids, { capacity });
        expect(await filter.check(ids)).toEqual(ids.map(() => 'maybe'));
        expect(await filter.check(idsOf(`round-${round - 1}`, 10))).toEqual(ids.map(() => 'absent'));
      }
    });

    it('are described by what they were built with', async (filter) => {
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
      expect(found).toMatchObject({ state: 'ready', builds: 1, count: 32, builtIds: 30 });
      expect(found).toMatchObject({ capacity: capacityOf(50), errorRate: 0.002, rebuilding: false });
      expect(found.shape).toMatchObject(shapeOf(plan));
      expect(found.shape!.modelledErrorRate).toBeLessThan(0.002);
      expect(found.builtAt!.getTime()).toBeGreaterThanOrEqual(before);
      expect(found.builtAt!.getTime()).toBeLessThanOrEqual(Date.now());
    });

    it('count their builds, their ids and the adds of the meantime', async (filter) => {
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
}
