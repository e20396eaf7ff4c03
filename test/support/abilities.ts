import {
  type AdoptableFilter,
  isAdoptable,
  isRemovable,
  type RemovableFilter,
  type SharedNegativeCache,
  sharesNegativeCache,
  type StoredFilter,
} from '../../src/store/index.js';

/** A filter as one that can remove ids; throws for one that cannot. */
export function removable(filter: StoredFilter): RemovableFilter {
  if (isRemovable(filter)) return filter;
  throw new Error('Expected a filter that can remove ids.');
}

/** A filter as one that other systems fill; throws for any other one. */
export function adoptable(filter: StoredFilter): AdoptableFilter {
  if (isAdoptable(filter)) return filter;
  throw new Error('Expected a filter on a key that other systems fill.');
}

/** The denials of a filter that all processes share; throws for a filter without them. */
export function denialsOf(filter: StoredFilter): SharedNegativeCache {
  if (sharesNegativeCache(filter)) return filter.negativeCache;
  throw new Error('Expected a filter with a shared negative cache.');
}
