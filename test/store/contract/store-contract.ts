import { describe, it } from '@jest/globals';
import { type FilterShape, planFilter } from '../../../src/filter/index.js';
import type { StoredFilter } from '../../../src/store/index.js';
import { storeContract, type StoreTraits } from '../../../src/testing/store/index.js';

/** What every store does alike. `open` gives a filter that was never built. */
export function describeStoreContract(
  name: string,
  open: () => Promise<StoredFilter>,
  traits: StoreTraits = {},
): void {
  const known = { shapeOf: blockedShape, leastErrors: 30, ...traits };
  describe(name, () => {
    for (const { name: one, run } of storeContract(open, known)) it(one, run);
  });
}

function blockedShape(plan: { capacity: number; errorRate: number }): Partial<FilterShape> {
  const { hashCount, bytes } = planFilter(plan);
  return { hashCount, bytes };
}
