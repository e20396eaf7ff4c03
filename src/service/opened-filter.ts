import { BloomConfigError } from '../common/index.js';
import type { OpenFilterOptions, StoredFilter } from '../store/index.js';
import type { FilterDefinition } from './filter-definition.js';
import type { FilterEnvironment } from './filter-environment.js';
import { type NegativeCacheOptions, sharedNegativeCacheOptions } from './negative-cache.js';
import { cannotShareDenials } from './service.messages.js';

type OpenedFilterContext = Pick<FilterEnvironment, 'store'> &
  Required<Pick<OpenFilterOptions, 'clock' | 'emit' | 'onLoad' | 'recorder' | 'contents' | 'covers'>>;

/**
 * Opens a filter in the store of the application.
 *
 * @throws {BloomConfigError} where the store cannot share denials, and the filter wants that.
 */
export function openInStore(
  definition: FilterDefinition,
  { store, covers, ...context }: OpenedFilterContext,
): StoredFilter {
  const { name, capacity, errorRate, maxIdBytes, layout, owner, partitions, replica, drainMs } = definition;
  const denials = denialsOf(definition.negativeCache);
  const inStore = store.open({
    ...context,
    name,
    layout,
    plan: { capacity, errorRate, maxIdBytes },
    hasSource: definition.source !== undefined,
    owner,
    waitsForReset: definition.create === 'explicit',
    partitions,
    replica,
    leaseMs: definition.copyLeaseMs,
    covers: replica === 'covered' ? covers : undefined,
    drainMs,
    negativeCache: denials ? sharedNegativeCacheOptions(denials) : undefined,
  });
  if (denials && denials.shared && !inStore.negativeCache && store.kind !== 'memory')
    throw new BloomConfigError(cannotShareDenials(name, layout.kind));
  return inStore;
}

/** False for a filter that remembers none. */
export function denialsOf(given: FilterDefinition['negativeCache']): NegativeCacheOptions | false {
  return given === true ? {} : given;
}
