export type {
  BloomClientAbsents,
  BloomEvent,
  BloomEventDetails,
  BloomEventError,
  BloomEventListener,
  BloomEventMap,
  BloomFilterState,
  BloomRebuildProgress,
  Clock,
} from '../../common/index.js';
export type { BloomLayout, FilterFill, FilterShape, IdKey, IdRun } from '../../filter/index.js';
export type {
  AdvisedFilter,
  BloomReplicaMode,
  CoveredIds,
  BloomUnknownReason,
  BloomVerdict,
  BuildOccasion,
  BuildOutcome,
  DistrustPauses,
  BloomCopyLease,
  BloomUnleasedCause,
  FilterDescription,
  FilterLoad,
  FilterContents,
  FilterPart,
  PartDescription,
  LeaseRequest,
  DeferringFilter,
  LocalFilter,
  LookupOutcome,
  OpenFilterOptions,
  RebuildLease,
  SharedNegativeCacheOptions,
  StagePlan,
  Staging,
  StoredFilter,
  StoredFilterStatus,
  StoreRecorder,
} from '../../store/index.js';
export { UNKNOWN_REASONS } from '../../store/index.js';
export { contractOptions } from './contract-options.js';
export type { OpenFilter, StoreContractCase } from './contract-case.js';
export { storeContract } from './store-contract.js';
export type { StoreTraits } from './store-traits.js';
