import { expect } from '@jest/globals';
import type { IdKey } from '../../src/filter/index.js';
import type { StoredFilter, BloomVerdict } from '../../src/store/index.js';
import { eventually } from './eventually.js';

/**
 * No process may answer "absent" for any of these ids, whether it asks for one after the other, for several
 * in one tick or for many.
 */
export async function expectNeverAbsent(
  filters: readonly StoredFilter[],
  ids: readonly IdKey[],
): Promise<void> {
  for (const filter of filters) {
    for (const id of ids.slice(0, 5)) expect(await filter.check([id])).not.toContain('absent');
    const sameTick = await Promise.all(ids.slice(5, 20).map((id) => filter.check([id])));
    expect(sameTick.flat()).not.toContain('absent');
    expect(await filter.check(ids)).not.toContain('absent');
  }
}

/**
 * Every process answers "maybe" for these ids, as soon as it has noticed that the filter is ready; none is
 * "absent" before.
 */
export async function expectFound(filters: readonly StoredFilter[], ids: readonly IdKey[]): Promise<void> {
  for (const filter of filters) {
    let verdicts: BloomVerdict[] = [];
    await eventually('the filter answers', async () => {
      verdicts = [...(await filter.check([ids[0]!])), ...(await filter.check(ids))];
      return verdicts.includes('absent') || !verdicts.includes('unknown');
    });
    expect(new Set(verdicts)).toEqual(new Set(['maybe']));
  }
}
