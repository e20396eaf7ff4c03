import type { SharedNegativeCache, StoredFilter } from '../../src/store/index.js';

/** A filter that has what only some have. */
export type Able<Ability extends keyof StoredFilter> = StoredFilter & Required<Pick<StoredFilter, Ability>>;

/** A filter as one that can remove ids; throws for one that cannot. */
export function removable(filter: StoredFilter): Able<'remove'> {
  return able(filter, 'remove');
}

/** A filter as one that other systems fill; throws for any other one. */
export function adoptable(filter: StoredFilter): Able<'adopt'> {
  return able(filter, 'adopt');
}

/** The denials of a filter that all processes share; throws for a filter without them. */
export function denialsOf(filter: StoredFilter): SharedNegativeCache {
  return able(filter, 'negativeCache').negativeCache;
}

function able<Ability extends keyof StoredFilter>(filter: StoredFilter, ability: Ability): Able<Ability> {
  if (filter[ability] === undefined) throw new Error(`Expected a filter with ${ability}.`);
  return filter as Able<Ability>;
}
