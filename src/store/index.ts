export {
  type BuildOccasion,
  type BuildOutcome,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
  type LeaseRequest,
} from './build-occasion.js';
export type {
  BlockListener,
  BlocksRead,
  CopyableDescription,
  CopyableFilter,
  CopyableStore,
} from './copyable-filter.js';
export type { DenialAnswer, DenialOptions, DenialQuestion, SharedNegativeCache } from './denials.js';
export {
  type AdoptableFilter,
  type DenialSharingFilter,
  isAdoptable,
  isMeasurable,
  isRemovable,
  type MeasurableFilter,
  type RemovableFilter,
  sharesDenials,
} from './filter-abilities.js';
export { notRecorded } from './not-recorded.js';
export type {
  AdvisedFilter,
  DistrustPauses,
  StoredFilter,
  BloomReplicaMode,
  FilterStore,
  BloomVerdict,
  FilterDescription,
  FilterLoad,
  LocalFilter,
  OpenFilterOptions,
  RebuildLease,
  StagePlan,
  Staging,
} from './store.js';
