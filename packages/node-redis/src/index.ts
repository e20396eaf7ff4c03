/**
 * Lets filters use a client of node-redis.
 *
 * @module
 */
export { fromNodeRedis, type NodeRedisClient } from './from-node-redis.js';
