export type {
  BloomOpenTelemetryAsyncOptions,
  BloomOpenTelemetryOptions,
} from './bloom-open-telemetry-options.js';
export { BloomOpenTelemetryModule } from './bloom-open-telemetry.module.js';
export {
  BloomMetricProducer,
  type ProducedHistogram,
  type ProducedMetrics,
  type ProducedPoint,
} from './bloom-metric-producer.js';
