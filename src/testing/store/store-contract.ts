import { adds } from './adds.js';
import type { OpenFilter, StoreContractCase } from './contract-case.js';
import { distrust } from './distrust.js';
import { generations } from './generations.js';
import { longIds } from './long-ids.js';
import { lookups } from './lookups.js';
import { occasions } from './occasions.js';
import { setup } from './setup.js';
import { staging } from './staging.js';
import type { StoreTraits } from './store-traits.js';

/**
 * What every store does alike, as cases for any test runner. The stores of this package are tested with the
 * same ones.
 *
 * @param open gives a filter that was never built, of a name of its own, each time.
 * @example
 * ```ts
 * describe('MyStore', () => {
 *   const open = () => store.open(contractOptions({ name: randomUUID() }));
 *   for (const { name, run } of storeContract(open)) it(name, run);
 * });
 * ```
 */
export function storeContract(open: OpenFilter, traits: StoreTraits = {}): readonly StoreContractCase[] {
  const { keepsMaxIdBytes = true } = traits;
  return [
    ...setup(open),
    ...lookups(open, traits),
    ...adds(open, traits),
    ...(keepsMaxIdBytes ? longIds(open) : []),
    ...generations(open, traits),
    ...staging(open),
    ...occasions(open),
    ...distrust(open, traits),
  ];
}
