/**
 * For packages of nestjs-bloom that observe the filters of an application, such as
 * `@nestjs-bloom/prometheus`. Applications find all they need in `nestjs-bloom`; what is here may change with
 * each version.
 *
 * @module
 */
export {
  A_FUNCTION,
  AN_ARRAY,
  checkOptions,
  codeOf,
  count,
  describeError,
  duration,
  escaped,
  type Expect,
  type Expectation,
  expecter,
  helpOn,
  isFunction,
  isInteger,
  isText,
  type NestedOptions,
  type OptionNames,
  type OptionsCheck,
  type OptionsRules,
  type OptionTable,
  plural,
  printed,
  TRUE_OR_FALSE,
  withHelp,
} from '../common/index.js';
export { type DecidedBy, type DecisionListener, listenToDecisions } from '../guard/index.js';
export { BLOOM_SERVICE, type FilterAdvice, RUN_BY_TOOL, type ToolHandle } from '../module/index.js';
export { type ClientRefusals, type ExplainedVerdict, explainVerdict, refusalsOf } from '../service/index.js';
export type { LookupOutcome } from '../store/index.js';
export type {
  DescribedMetric,
  EventCount,
  ExportedHistogram,
  ExportedMetric,
  ExportedNumber,
  FilterSnapshot,
  KnownInfo,
  Label,
  Labels,
  MetricsSnapshot,
  RebuildCounts,
  RebuildOutcome,
  Sample,
} from './exported-metric.js';
export { EXPORTED_METRICS } from './exported-metrics.js';
export { MetricsCollector } from './metrics-collector.js';
