import type { StoredFilterStatus } from '../store/index.js';
import type { GuardableFilter } from './bloom-filter.js';
import type { BloomFilterMetrics } from './metrics.js';

const NO_REBUILD: BloomFilterMetrics['rebuild'] = {
  progress: undefined,
  nextRunAt: undefined,
  lastPhases: [],
};

/** All that this process has counted of a filter. */
export function metricsOf(
  { name, guarding, lookups, advice }: GuardableFilter,
  status: StoredFilterStatus,
  rebuild = NO_REBUILD,
): BloomFilterMetrics {
  const methods = guarding.methods.all();
  return {
    filter: name,
    mode: guarding.mode,
    state: status.state,
    guards: guarding.counts(),
    saved: methods.reduce((sum, { saved }) => sum + saved, 0),
    methods,
    ...lookups.snapshot(),
    queuedAdds: guarding.queued?.size ?? 0,
    recent: guarding.recent.snapshot(),
    rebuild,
    isCircuitOpen: status.isCircuitOpen,
    advice: advice.all(),
  };
}
