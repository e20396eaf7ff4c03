export type {
  BloomFactoryOptions,
  BloomFeature,
  BloomFeatureAsyncOptions,
  BloomHeartbeat,
  BloomModuleAsyncOptions,
  BloomModuleOptions,
  BloomOptionsFactory,
  BloomServerlessOptions,
  BloomStoreLike,
} from './bloom-module-options.js';
export type { BloomRedis, BloomRedisClient } from '../store/redis/index.js';
export type { CopyLimits } from '../store/local-copy/index.js';
export { type FilterAdvice, RUN_BY_TOOL, type ToolHandle } from './bloom-lifecycle.js';
export { BloomModule, rootModule } from './bloom.module.js';
export {
  BLOOM_SERVICE,
  BLOOM_STORE,
  getBloomFilterToken,
  InjectBloomFilter,
  namedFilters,
  tokenOfFilter,
} from './bloom-tokens.js';
export { EventHub } from './event-hub.js';
export {
  type BloomEventDecorator,
  type BloomEventOf,
  type BloomEventType,
  OnBloomEvent,
} from './on-bloom-event.decorator.js';
export { FilterRegistry, type FilterRegistryContext } from './filter-registry.js';
export type { SourceMaker } from './source-maker.js';
