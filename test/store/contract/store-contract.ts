import { describe } from '@jest/globals';
import type { StoredFilter } from '../../../src/store/index.js';
import { describeAdds } from './adds.js';
import { describeDistrust } from './distrust.js';
import { describeGenerations } from './generations.js';
import { describeLongIds } from './long-ids.js';
import { describeLookUps } from './lookups.js';
import { describeOccasions } from './occasions.js';
import { describeStaging } from './staging.js';
import type { StoreTraits } from './store-traits.js';

/** What every store does alike. `open` gives a filter that was never built. */
export function describeStoreContract(
  name: string,
  open: () => Promise<StoredFilter>,
  traits: StoreTraits = {},
): void {
  const { keepsMaxIdBytes = true } = traits;
  describe(name, () => {
    describeLookUps(open, traits);
    describeAdds(open, traits);
    if (keepsMaxIdBytes) describeLongIds(open);
    describeGenerations(open, traits);
    describeStaging(open);
    describeOccasions(open);
    describeDistrust(open, traits);
  });
}
