export { type BloomRedis, checkRedisOption } from './client/redis-option.js';
export type { RedisContext, RedisLayout } from './protocol/redis-layout.js';
export { RedisStore, type RedisStoreOptions } from './redis-store.js';
