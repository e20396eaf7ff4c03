export {
  BloomConfigError,
  BloomError,
  type BloomEvent,
  type BloomEventListener,
  type BloomFilterState,
  BloomFormatError,
  BloomFullError,
  BloomIdError,
  BloomRebuildError,
  type BloomRebuildFailure,
  type BloomRebuildProgress,
  BloomUnavailableError,
} from './common/index.js';
export type { BloomId, BloomLayout } from './filter/index.js';
export { integer, lowerCase, nfc, objectId, padded, uuid } from './filter/index.js';
export {
  type BloomCallback,
  type BloomCoalesceOptions,
  type BloomGuardDefaults,
  BloomGuarded,
  type BloomGuardedDecorator,
  BloomGuardedMany,
  type BloomGuardedManyDecorator,
  type BloomGuardedManyOptions,
  type BloomGuardedOptions,
  BloomGuardRunner,
  BloomInterceptor,
  type BloomMistake,
  BloomRegisters,
  type BloomRegistersDecorator,
  type BloomRegistersOptions,
} from './guard/index.js';
export {
  type BloomEventDecorator,
  type BloomEventOf,
  type BloomEventType,
  type BloomFactoryOptions,
  type BloomFeature,
  type BloomFeatureAsyncOptions,
  BloomModule,
  type BloomModuleAsyncOptions,
  type BloomModuleOptions,
  type BloomOptionsFactory,
  type BloomRedis,
  type CopyLimits,
  getBloomFilterToken,
  InjectBloomFilter,
  OnBloomEvent,
} from './module/index.js';
export type {
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomRebuildOptions,
  BloomRebuildReport,
} from './rebuild/index.js';
export {
  type BloomBatchOptions,
  BloomFilter,
  type BloomFilterInfo,
  type BloomFilterOptions,
  type BloomGuardCounts,
  type BloomGuardMode,
  type BloomReadyOptions,
  type BloomRebuildSchedule,
  BloomService,
  type NegativeCacheOptions,
} from './service/index.js';
export {
  type BloomPageContext,
  type BloomPageFunction,
  type BloomIdProperty,
  type BloomPagesOptions,
  type BloomPagingOptions,
  type BloomSourceFactory,
  fromPages,
} from './sources/index.js';
export type { BloomReplicaMode, BloomVerdict } from './store/index.js';
