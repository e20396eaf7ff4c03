export {
  type ExportedHistogram,
  type ExportedMetric,
  type ExportedNumber,
  type Label,
  type Labels,
  LABELS,
  type Sample,
  unitSuffix,
} from './exported-metric.js';
export { EXPORTED_METRICS } from './exported-metrics.js';
export { type CollectorOptions, MetricsCollector } from './metrics-collector.js';
export type { FilterSnapshot, MetricsSnapshot } from './metrics-snapshot.js';
export { checkedInfoEveryMs, INFO_EVERY_MS } from './info-every-ms.js';
export { noRootOf } from './integrations.messages.js';
