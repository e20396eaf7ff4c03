import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { BloomIdError } from '../../common/index.js';
import { build, idsOf, leaseOf, testPlan } from './built-filter.js';

export function longIds(open: OpenFilter): StoreContractCase[] {
  return casesOf('ids that are too long', open, (it) => {
    const long = 'x'.repeat(17);
    const fits = 'x'.repeat(16);

    it('are absent, and refused by add with none of their call recorded', async (filter) => {
      await build(filter, [], { maxIdBytes: 16 });
      expect(await filter.check([long, 'é'.repeat(9), new Uint8Array(17)])).toEqual(Array(3).fill('absent'));
      await expect(filter.add(['a', long, 'b'])).rejects.toThrow(BloomIdError);
      await expect(filter.add([long])).rejects.toThrow(BloomIdError);
      expect(await filter.check(['a', 'b', long])).toEqual(['absent', 'absent', 'absent']);
      expect(await filter.add([fits, 'é'.repeat(8)])).toEqual([true, true]);
      expect(await filter.check([fits, 'é'.repeat(8)])).toEqual(['maybe', 'maybe']);
    });

    it('leave a call of many ids unrecorded, wherever they stand in it', async (filter) => {
      await build(filter, [], { maxIdBytes: 16 });
      const ids = idsOf('id', 1000);
      await expect(filter.add([...ids, long])).rejects.toThrow(BloomIdError);
      expect(new Set(await filter.check(ids))).toEqual(new Set(['absent']));
    });

    it('do not fail the adds that go on at the same time', async (filter) => {
      await build(filter, [], { maxIdBytes: 16 });
      const calls = await Promise.allSettled(['a', long, 'b'].map((id) => filter.add([id])));
      expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect((calls[1] as PromiseRejectedResult).reason).toBeInstanceOf(BloomIdError);
      expect(await filter.check(['a', 'b', long])).toEqual(['maybe', 'maybe', 'absent']);
    });

    it('are refused while a generation that cannot hold them is staged', async (filter) => {
      await build(filter, [], { maxIdBytes: 64 });
      const lease = await leaseOf(filter);
      await lease.stage(testPlan({ maxIdBytes: 16 }));
      await expect(filter.add([long])).rejects.toThrow(BloomIdError);
      expect(await filter.add([fits])).toEqual([true]);
      await lease.release();
    });
  });
}
