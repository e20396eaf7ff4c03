export { type BloomRedis, RedisStore, type RedisStoreOptions } from './redis-store.js';
export { luaSources } from './lua/scripts.generated.js';
