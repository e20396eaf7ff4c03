import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { expect } from './expect.js';
import { planFilter } from '../../filter/index.js';
import { build, idsOf, leaseOf, mergeIds, RARE, testPlan } from './built-filter.js';
import type { StoreTraits } from './store-traits.js';

export function lookups(
  open: OpenFilter,
  { leastErrors = 0, takesAddsUnready = true }: StoreTraits,
): StoreContractCase[] {
  return casesOf('lookups', open, (it) => {
    it('are unknown until the filter is built', async (filter) => {
      expect(await filter.check(['a'])).toEqual(['unknown']);
      expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
      if (takesAddsUnready) await filter.add(['a']);
      expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
    });

    it('are unknown while the first generation is staged', async (filter) => {
      const lease = await leaseOf(filter);
      const staging = await lease.stage(testPlan());
      await mergeIds(staging, ['a']);
      expect(await filter.check(['a', 'b'])).toEqual(['unknown', 'unknown']);
      await lease.release();
    });

    it('tell ids of the build from others, in order', async (filter) => {
      await build(filter, ['a', 'b']);
      expect(await filter.check(['x', 'a', 'y', 'b', 'a'])).toEqual([
        'absent',
        'maybe',
        'absent',
        'maybe',
        'maybe',
      ]);
      expect(await filter.check(['a'])).toEqual(['maybe']);
      expect(await filter.check(['x'])).toEqual(['absent']);
    });

    it('keep to the error rate at capacity', async (filter) => {
      const plan = { capacity: 5000, errorRate: 0.01 };
      await build(filter, idsOf('present', 5000), plan);
      const verdicts = await filter.check(idsOf('other', 10_000));
      // 100 expected, standard deviation 10.
      expect(verdicts.filter((one) => one === 'maybe').length).toBeLessThan(180);
      expect(verdicts.filter((one) => one === 'maybe').length).toBeGreaterThanOrEqual(leastErrors);
      expect(verdicts).not.toContain('unknown');
    });

    it('take an empty list', async (filter) => {
      expect(await filter.check([])).toEqual([]);
      await build(filter, ['a']);
      expect(await filter.check([])).toEqual([]);
    });

    it('serve thousands of ids over several segments, in order', async (filter) => {
      const plan = { capacity: 700_000 };
      expect(planFilter({ ...plan, errorRate: RARE }).bytes).toBeGreaterThan(2 ** 21);
      const present = idsOf('present', 4000);
      await build(filter, present, plan);
      const verdicts = await filter.check(present.flatMap((id) => [id, `not-${id}`]));
      expect(verdicts.filter((_, i) => i % 2 === 0)).toEqual(present.map(() => 'maybe'));
      expect(verdicts.filter((one, i) => i % 2 === 1 && one !== 'absent').length).toBeLessThan(3);
    });

    it('take the bytes of an id for its text', async (filter) => {
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

    it('give each of many concurrent calls its own verdict', async (filter) => {
      await build(filter, idsOf('present', 100));
      const calls = idsOf('present', 150).map((id) => filter.check([id]));
      const verdicts = (await Promise.all(calls)).flat();
      expect(verdicts).toEqual([...Array(100).fill('maybe'), ...Array(50).fill('absent')]);
    });
  });
}
