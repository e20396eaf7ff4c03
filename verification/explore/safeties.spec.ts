import { describe, expect, it } from '@jest/globals';
import { FAMILIES } from './families/all-families.js';

describe.each(FAMILIES.filter(({ safeties }) => safeties.length > 0))(
  'The safeties of $name',
  ({ safeties }) => {
    it.each(safeties)('can be taken out: $name', async ({ take }) => {
      // Throws when the script has not the lines that are to be taken out.
      expect(Object.keys(await take())).not.toEqual([]);
    });

    it('have names of their own', () => {
      expect(new Set(safeties.map(({ name }) => name)).size).toBe(safeties.length);
    });
  },
);
