export { ATTACK_OPTIONS, attackSettings, type BloomAttackOptions, MAX_CLIENTS } from './attack-options.js';
export { type AttackChange, AttackRule, type AttackSettings, SAMPLE_MS } from './attack-rule.js';
export { clientAddress } from './client-address.js';
export { ClientCounts, type ClientRefusals } from './client-counts.js';
export {
  type BloomBatchOptions,
  BloomFilter,
  type BloomFilterInfo,
  type BloomPartInfo,
  type GuardableFilter,
} from './bloom-filter.js';
export {
  type BloomActionOptions,
  type BloomReadyOptions,
  BloomService,
  refusalsOf,
} from './bloom.service.js';
export type { FailedAddsReport } from './failed-adds.js';
export { defineFilter, type FilterDefinition } from './filter-definition.js';
export type { BloomFilterOptions, BloomRebuildSchedule } from './filter-options.js';
export type { BloomGuardCounts, BloomGuardMode } from './guard-counts.js';
export { type ExplainedVerdict, explainVerdict } from './explained-verdict.js';
export { GuardState } from './guard-state.js';
export { guardedBatch, loadFound, loadGuarded } from './guarded-batch.js';
export { IdKeys } from './id-keys.js';
export { newIdentity } from './instance-identity.js';
export type { BloomInstance, BloomInstances, BloomRebuildRecord, BloomSharedMode } from './instances.js';
export { AdviceTexts } from './advice-texts.js';
export { NO_AUDIT } from './audit.js';
export { LookupCounts } from './lookup-counts.js';
export type { CountedMethod } from './method-counts.js';
export { metricsOf } from './filter-metrics.js';
export type {
  BloomCopyWaits,
  BloomFilterMetrics,
  BloomHistogram,
  BloomMethodMetrics,
  BloomPhaseDuration,
  BloomUnknownCounts,
} from './metrics.js';
export type { NegativeCacheOptions } from './negative-cache.js';
export type { HeartbeatRule } from './filter-context.js';
export { ManagedFilter } from './managed-filter.js';
export type { BloomIdOrder } from './outside/id-order.js';
export type { BloomOutsideMetrics } from './outside/outside-counts.js';
export type { BloomFeedInfo, BloomOutsideInfo } from './outside/outside-info.js';
export type {
  BloomAbsentBeyond,
  BloomTopUpOptions,
  BloomTopUpReading,
  BloomUnknownBeyond,
} from './outside/top-up-options.js';
export { isOwnerName, OWNER } from './owner-name.js';
export { registeredFilters } from './service.messages.js';
export type { WrongAbsentReport } from './wrong-absents.js';
