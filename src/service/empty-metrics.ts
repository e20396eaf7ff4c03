import type { BloomFilterMetrics, BloomHistogram, BloomUnknownCounts } from './metrics.js';

const NO_UNKNOWNS: BloomUnknownCounts = {
  unbuilt: 0,
  lost: 0,
  suspect: 0,
  timeout: 0,
  circuit: 0,
  error: 0,
  'other-owner': 0,
  'newer-format': 0,
  'other-partitions': 0,
  changing: 0,
  'invalid-id': 0,
  beyond: 0,
};

const NO_OBSERVATIONS: BloomHistogram = { bounds: [], counts: [0], sum: 0 };

/** The metrics of a filter that has seen nothing. */
export function emptyMetrics(filter: string): BloomFilterMetrics {
  return {
    filter,
    mode: 'on',
    state: undefined,
    guards: {
      absent: 0,
      maybe: 0,
      unknown: 0,
      invalid: 0,
      foundNothing: 0,
      remembered: 0,
      failedAdds: 0,
      wrongAbsents: 0,
      letThroughRate: undefined,
    },
    saved: 0,
    methods: [],
    lookups: { local: 0, remote: 0, unknown: NO_UNKNOWNS },
    latencyMs: { local: NO_OBSERVATIONS, remote: NO_OBSERVATIONS, add: NO_OBSERVATIONS },
    batchSizes: { check: NO_OBSERVATIONS, add: NO_OBSERVATIONS },
    copyWaits: { adds: 0, ms: 0 },
    copyLease: undefined,
    outside: undefined,
    queuedAdds: 0,
    recent: undefined,
    rebuild: { progress: undefined, nextRunAt: undefined, lastPhases: [] },
    isCircuitOpen: false,
    advice: [],
  };
}
