export {
  ATTACK_OPTIONS,
  type AttackChange,
  AttackRule,
  type BloomAttackOptions,
  SAMPLE_MS,
} from './attack-rule.js';
export { clientAddress, ClientCounts, type ClientRefusals } from './client-counts.js';
export {
  type BloomBatchOptions,
  BloomFilter,
  type BloomFilterInfo,
  type BloomPartInfo,
  type GuardableFilter,
  type FailedAddsReport,
  type FalseNegativeReport,
} from './bloom-filter.js';
export {
  type BloomActionOptions,
  type BloomReadyOptions,
  BloomService,
  refusalsOf,
} from './bloom.service.js';
export { defineFilter, type FilterDefinition } from './filter-definition.js';
export type { BloomFilterOptions, BloomRebuildSchedule } from './filter-options.js';
export type { BloomGuardCounts, BloomGuardMode } from './metrics.js';
export { type ExplainedVerdict, explainVerdict } from './bloom.service.js';
export { GuardState } from './guard-state.js';
export { type BloomUnknownBudget, type LimitRule, LookupBudget, type UnjudgedCall } from './lookup-budget.js';
export { BloomOverloadError } from './overload-error.js';
export { SeenIds } from './seen-ids.js';
export { guardedBatch, loadFound, loadGuarded } from './guarded-batch.js';
export { IdKeys } from './id-keys.js';
export { newIdentity } from './filter-environment.js';
export type { BloomInstance, BloomInstances, BloomRebuildRecord, BloomSharedMode } from './instances.js';
export { NO_AUDIT } from './guard-state.js';
export { Histogram, LookupCounts } from './filter-counts.js';
export type { CountedMethod, FilterClock } from './filter-counts.js';
export { metricsOf } from './filter-info.js';
export type {
  BloomBudgetMetrics,
  BloomCopyWaits,
  BloomFilterMetrics,
  BloomHistogram,
  BloomMethodMetrics,
  BloomPhaseDuration,
  BloomUnknownCounts,
} from './metrics.js';
export type { NegativeCacheOptions } from './negative-cache.js';
export type { HeartbeatRule } from './filter-environment.js';
export { ManagedFilter } from './managed-filter.js';
export type { BloomOutsideMetrics } from './metrics.js';
export type { BloomFeedInfo, BloomOutsideInfo } from './metrics.js';
export type {
  BloomAbsentBeyond,
  BloomTopUpOptions,
  BloomTopUpReading,
  BloomUnknownBeyond,
} from './freshness/top-up-options.js';
export { isOwnerName, OWNER } from './filter-options-check.js';
export { registeredFilters } from './service.messages.js';
