import { isMeasurable, type StoredFilter } from '../store/index.js';
import type { BloomFilterInfo } from './bloom-filter.js';
import type { FilterDefinition } from './filter-definition.js';
import type { BloomGuardCounts } from './guard-counts.js';

/**
 * What is known of a filter: by the store, by its definition and by the guards of this process.
 *
 * @throws {BloomUnavailableError} when the store cannot be asked.
 */
export async function filterInfo(
  inStore: StoredFilter,
  of: { readonly definition: FilterDefinition; readonly store: string; readonly observed: BloomGuardCounts },
): Promise<BloomFilterInfo> {
  const { definition, store, observed } = of;
  const found = await inStore.describe();
  const { shape, count, builtAt, builds, rebuilding, state } = found;
  const measured = shape && isMeasurable(inStore) ? await inStore.measureFill() : undefined;
  return {
    name: definition.name,
    state,
    store,
    layout: definition.layout.kind,
    count,
    // A filter that answers never has capacity 0, unless its metadata are not believed.
    capacity: found.capacity > 0 || state !== 'ready' ? found.capacity : definition.capacity,
    errorRate: definition.errorRate,
    modelledErrorRate: measured?.errorRate ?? shape?.modelledErrorRate,
    fillRatio: measured?.fillRatio ?? shape?.fillRatio,
    hashCount: shape?.hashCount,
    bytes: shape?.bytes ?? 0,
    builtAt,
    builds,
    rebuilding,
    observed,
  };
}
