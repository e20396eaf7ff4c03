import type { BloomCopyLease, StoredFilterStatus } from '../store/index.js';
import type { GuardableFilter } from './bloom-filter.js';
import type { BloomFilterMetrics } from './metrics.js';
import type { BloomOutsideMetrics } from './outside/outside-counts.js';

const NO_REBUILD: BloomFilterMetrics['rebuild'] = {
  progress: undefined,
  nextRunAt: undefined,
  lastPhases: [],
};

interface MeasuredFilter extends GuardableFilter {
  readonly outside?: { metrics(): BloomOutsideMetrics } | undefined;
}

/** All that this process has counted of a filter. */
export function metricsOf(
  { name, guarding, lookups, advice, outside }: MeasuredFilter,
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
    outside: outside?.metrics(),
    queuedAdds: guarding.queued?.size ?? 0,
    recent: guarding.recent.snapshot(),
    rebuild,
    isCircuitOpen: status.isCircuitOpen,
    advice: advice.all(),
  };
}
