import { createSentinel } from 'redis';
import { fromNodeRedis } from '../src/index.js';
import { describeOnSentinel } from './on-sentinel.js';

describeOnSentinel('a Sentinel of node-redis', (options) => fromNodeRedis(createSentinel(options)));
