export { type BloomRedis, RedisStore, type RedisStoreOptions } from './redis-store.js';
