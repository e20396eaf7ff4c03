export type {
  LeaseServer,
  BloomCopyLease,
  BloomUnleasedCause,
  FeedEntry,
  FeedListener,
  HeldCopy,
  LeaseReply,
} from './lease-server.js';
export {
  GROUP_BLOCKS,
  type BlockListener,
  type BlocksRead,
  type CopyableDescription,
  type CopyableFilter,
  type CopyableStore,
  type StagedBlocks,
} from './copyable-filter.js';
export type {
  DenialAnswer,
  SharedNegativeCacheOptions,
  DenialQuestion,
  SharedNegativeCache,
} from './negative-cache.js';
export {
  type BoardContents,
  type BoardMode,
  type BoardNews,
  BoardRefusedError,
  type EndedRun,
  type InstanceBeat,
  type InstanceBoard,
  LONGEST_LIFE_MS,
  RUNS_KEPT,
} from './instance-board.js';
export type {
  ConnectionEnds,
  ExtraConnectionEvents,
  RedisClient,
  RedisClientEvents,
  RedisExtraConnection,
  RedisNodes,
  RedisSilentConnection,
  RedisWord,
} from './redis-client.js';
export { clusterSlot, SLOTS } from './cluster-slot.js';
export type { FilterContents, FilterDescription, PartDescription } from './filter-description.js';
export {
  type MarksAnswer,
  type MarkEntries,
  type MarksUpdate,
  type MarksQuestion,
  MarksRefusedError,
  type HighWaterMarks,
} from './high-water-marks.js';
export { notRecorded, OtherPartitionsError, PartlyRebuiltError } from './store-errors.js';
export { NO_RECORDER, type StoreRecorder, TIMED } from './store-recorder.js';
export {
  type BloomUnknownReason,
  type BloomVerdict,
  type KnownVerdict,
  type LookupOutcome,
  UNKNOWN_REASONS,
  verdictOf,
} from './verdict.js';
export type {
  AdvisedFilter,
  CoveredIds,
  DistrustPauses,
  StoredFilter,
  BloomReplicaMode,
  FilterStore,
  FilterLoad,
  FilterPart,
  OpenFilterOptions,
  PartEpochs,
  StoredFilterStatus,
} from './store.js';
export {
  type BuildOccasion,
  type BuildOutcome,
  type DeferringFilter,
  FIRST_BUILD_PAUSE_MS,
  LAST_BUILD_PAUSE_MS,
  type LeaseRequest,
  type LocalFilter,
  type RebuildLease,
  type StagePlan,
  type Staging,
} from './staging.js';
