import { jest } from '@jest/globals';
import { createCluster } from 'redis-5';
import { describeOnCluster } from './on-cluster.js';

// What the wing imports, where an application has this version.
jest.unstable_mockModule('redis', () => import('redis-5'));
const { fromNodeRedis } = await import('../src/index.js');

describeOnCluster('a Cluster of node-redis 5', (options) => fromNodeRedis(createCluster(options as never)));
