export type { RedisContext, RedisLayout } from './protocol/redis-layout.js';
export { type BloomRedis, RedisStore, type RedisStoreOptions } from './redis-store.js';
