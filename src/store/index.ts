export {
  type BuildOccasion,
  type BuildOutcome,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
  type LeaseRequest,
} from './build-occasion.js';
export type { DenialAnswer, DenialOptions, DenialQuestion, SharedNegativeCache } from './denials.js';
export { notRecorded } from './not-recorded.js';
export type {
  AdvisedFilter,
  BlockListener,
  BlocksRead,
  StoredFilter,
  BloomReplicaMode,
  FilterStore,
  BloomVerdict,
  CopyableDescription,
  CopyableFilter,
  CopyableStore,
  FilterDescription,
  FilterLoad,
  LocalFilter,
  OpenFilterOptions,
  RebuildLease,
  StagePlan,
  Staging,
} from './store.js';
