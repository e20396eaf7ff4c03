import { createClient } from 'redis-5';
import { describeRedisClient } from '../../../test/support/redis-client-contract.js';
import { fromNodeRedis } from '../src/index.js';

/** The lowest version of the peer range. A file of its own runs beside that of the highest one. */
describeRedisClient('of node-redis 5', (url) => fromNodeRedis(createClient({ url })));
