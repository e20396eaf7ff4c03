export {
  type BloomPrometheusAsyncOptions,
  type BloomPrometheusOptions,
  type PrometheusRegistry,
} from './bloom-prometheus-options.js';
export { BloomPrometheusModule } from './bloom-prometheus.module.js';
