/**
 * Lets filters use a client of node-redis.
 *
 * @module
 */
export {
  fromNodeRedis,
  type NodeRedisClient,
  type NodeRedisCluster,
  type NodeRedisSentinel,
  type NodeRedisSentinelOptions,
} from './from-node-redis.js';
