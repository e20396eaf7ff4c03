import { describeError } from '../common/index.js';
import { isMeasurable, leasesCopy, type PartDescription, type StoredFilter } from '../store/index.js';
import type { BloomFilterInfo, BloomPartInfo } from './bloom-filter.js';
import type { FilterDefinition } from './filter-definition.js';
import type { BloomGuardCounts } from './guard-counts.js';
import type { BloomCopyWaits } from './metrics.js';

/**
 * What is known of a filter: by the store, by its definition and by the guards of this process.
 *
 * @throws {BloomUnavailableError} when the store cannot be asked.
 */
export async function filterInfo(
  inStore: StoredFilter,
  of: {
    readonly definition: FilterDefinition;
    readonly store: string;
    readonly observed: BloomGuardCounts;
    readonly lookups: { readonly copyWaits: BloomCopyWaits };
  },
): Promise<BloomFilterInfo> {
  const { definition, store, observed, lookups } = of;
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
    copyLease: leasesCopy(inStore) ? inStore.copyLease : undefined,
    copyWaits: lookups.copyWaits,
    observed,
    ...(found.parts && { parts: found.parts.map(partInfo) }),
  };
}

function partInfo(found: PartDescription): BloomPartInfo {
  const { part } = found;
  if (!('state' in found)) {
    const error = describeError(found.error);
    const nothing = { count: 0, capacity: 0, bytes: 0, builtAt: undefined, builds: 0, rebuilding: false };
    return { part, state: undefined, error, ...nothing };
  }
  const { state, count, capacity, shape, builtAt, builds, rebuilding } = found;
  return { part, state, count, capacity, bytes: shape?.bytes ?? 0, builtAt, builds, rebuilding };
}
