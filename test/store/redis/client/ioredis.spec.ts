import { describeRedisClient } from '../../../support/redis-client-contract.js';

describeRedisClient('of ioredis', (url) => url);
