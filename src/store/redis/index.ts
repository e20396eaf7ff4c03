export { type BloomRedis, RedisStore, type RedisStoreOptions } from './redis-store.js';
export { luaSources } from './scripts.generated.js';
