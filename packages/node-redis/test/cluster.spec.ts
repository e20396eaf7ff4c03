import { createCluster } from 'redis';
import { fromNodeRedis } from '../src/index.js';
import { describeOnCluster } from './on-cluster.js';

describeOnCluster('a Cluster of node-redis', (options) => fromNodeRedis(createCluster(options)));
