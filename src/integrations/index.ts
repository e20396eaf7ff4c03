export {
  type ExportedHistogram,
  type ExportedMetric,
  type ExportedNumber,
  type Labels,
  unitSuffix,
} from './exported-metric.js';
export { EXPORTED_METRICS } from './exported-metrics.js';
export { MetricsCollector } from './metrics-collector.js';
export type { MetricsSnapshot } from './metrics-snapshot.js';
export { checkedInfoEveryMs } from './info-every-ms.js';
export { noRootOf } from './integrations.messages.js';
