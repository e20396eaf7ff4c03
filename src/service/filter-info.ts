import { LookupCounts } from './filter-counts.js';
import { GuardState, NO_AUDIT } from './guard-state.js';
import { describeError } from '../common/index.js';
import type { BloomCopyLease, PartDescription, StoredFilter, StoredFilterStatus } from '../store/index.js';
import type { BloomFilterInfo, BloomPartInfo, GuardableFilter } from './bloom-filter.js';
import type { FilterDefinition } from './filter-definition.js';
import type { BloomCopyWaits, BloomFilterMetrics, BloomGuardCounts, BloomOutsideMetrics } from './metrics.js';

/** What is known of a filter: by the store, by its definition and by the guards of this process. */
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
  const measured = shape && (await inStore.measureFill?.());
  return {
    name: definition.name,
    state,
    store,
    layout: shape?.isExact ? 'exact' : definition.layout.kind,
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
    copyLease: inStore.copyLease,
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

const NO_REBUILD: BloomFilterMetrics['rebuild'] = {
  progress: undefined,
  nextRunAt: undefined,
  lastPhases: [],
};

type MeasuredFilter = Pick<GuardableFilter, 'name' | 'guarding' | 'lookups' | 'advice'> & {
  readonly freshness?: { metrics(): BloomOutsideMetrics } | undefined;
};

/** All that this process has counted of a filter. */
export function metricsOf(
  { name, guarding, lookups, advice, freshness }: MeasuredFilter,
  inStore: { readonly status: StoredFilterStatus; readonly copyLease?: BloomCopyLease | undefined },
  rebuild = NO_REBUILD,
): BloomFilterMetrics {
  const { status } = inStore;
  const methods = guarding.methods.all();
  return {
    filter: name,
    mode: guarding.mode,
    state: status.state,
    guards: guarding.counts(),
    saved: methods.reduce((sum, { saved }) => sum + saved, 0),
    methods,
    ...lookups.snapshot(),
    copyLease: inStore.copyLease,
    outside: freshness?.metrics(),
    queuedAdds: guarding.queued?.size ?? 0,
    budget: guarding.budget?.metrics(),
    recent: guarding.recent.snapshot(),
    rebuild,
    isCircuitOpen: status.isCircuitOpen,
    advice: [...advice],
  };
}

/** The metrics of a filter that has seen nothing. */
export function emptyMetrics(name: string): BloomFilterMetrics {
  const guarding = new GuardState({ shadow: false, audit: NO_AUDIT, negativeCache: false, drainMs: 0 });
  const filter = { name, guarding, lookups: new LookupCounts(), advice: new Set<string>() };
  return metricsOf(filter, { status: { state: undefined, isCircuitOpen: false } });
}
