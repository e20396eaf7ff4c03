export {
  BloomConfigError,
  BloomError,
  type BloomEvent,
  type BloomEventListener,
  type BloomFilterState,
  BloomIdError,
  BloomRebuildError,
  type BloomRebuildFailure,
  type BloomRebuildProgress,
  BloomUnavailableError,
} from './common/index.js';
export type { BloomId } from './filter/index.js';
export {
  type BloomCallback,
  type BloomGuardDefaults,
  BloomGuarded,
  type BloomGuardedOptions,
  BloomGuardRunner,
  BloomInterceptor,
  type BloomMethodDecorator,
  BloomRegisters,
  type BloomRegistersOptions,
} from './guard/index.js';
export {
  type BloomFeature,
  type BloomFeatureAsyncOptions,
  BloomModule,
  type BloomModuleAsyncOptions,
  type BloomModuleOptions,
  type BloomOptionsFactory,
  getBloomFilterToken,
  InjectBloomFilter,
} from './module/index.js';
export type { BloomIdSource, BloomRebuildOptions, BloomRebuildReport } from './rebuild/index.js';
export {
  type BloomFilter,
  type BloomFilterInfo,
  type BloomFilterOptions,
  type BloomRebuildSchedule,
  BloomService,
} from './service/index.js';
export type { BloomVerdict } from './store/index.js';
