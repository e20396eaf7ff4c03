import { COPY_METRICS, FILTER_METRICS } from './filter-metrics.js';
import type { ExportedMetric } from './exported-metric.js';
import { LOOKUP_METRICS } from './lookup-metrics.js';
import { OUTSIDE_METRICS, REBUILD_METRICS } from './rebuild-metrics.js';

/** Every metric that this package exports, whatever collects it. */
export const EXPORTED_METRICS: readonly ExportedMetric[] = [
  ...LOOKUP_METRICS,
  ...FILTER_METRICS,
  ...COPY_METRICS,
  ...OUTSIDE_METRICS,
  ...REBUILD_METRICS,
];
