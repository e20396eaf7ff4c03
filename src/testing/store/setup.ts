import { casesOf, type OpenFilter, type StoreContractCase } from './contract-case.js';
import { build } from './built-filter.js';
import { expect } from './expect.js';

/** What is asked before the first lookup, and by whom nothing is waited for. */
export function setup(open: OpenFilter): StoreContractCase[] {
  return casesOf('a filter', open, (it) => {
    it('can be had, and advice on it is a list of texts', async (filter) => {
      await filter.verify();
      const of = { bytes: 10_000, hasSource: true, drainMs: 10_000 };
      const advice = await filter.advise(of);
      expect(advice.every((text) => typeof text === 'string')).toBe(true);
    });

    it('answers for one id as it does for several', async (filter) => {
      expect(await filter.checkOne('a')).toBe('unbuilt');
      await build(filter, ['a']);
      await filter.check(['a']);
      expect(await filter.checkOne('a')).toBe('maybe');
      expect(await filter.checkOne('b')).toBe('absent');
      await filter.add(['b']);
      expect(await filter.checkOne('b')).toBe('maybe');
    });

    it('names a live generation that it knows, and another one after a build', async (filter) => {
      expect(filter.generation).toBeUndefined();
      await build(filter, ['a']);
      await filter.check(['a']);
      const first = filter.generation;
      expect(typeof first).toBe('string');
      await build(filter, ['b']);
      await filter.check(['b']);
      expect(typeof filter.generation).toBe('string');
      expect(filter.generation === first).toBe(false);
    });
  });
}
