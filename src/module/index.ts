export type {
  BloomFactoryOptions,
  BloomFeature,
  BloomFeatureAsyncOptions,
  BloomModuleAsyncOptions,
  BloomModuleOptions,
  BloomOptionsFactory,
} from './bloom-module.options.js';
export type { BloomRedis } from '../store/redis/index.js';
export type { CopyLimits } from '../store/replica/index.js';
export { BloomModule } from './bloom.module.js';
export { BLOOM_STORE, getBloomFilterToken, InjectBloomFilter } from './bloom.tokens.js';
