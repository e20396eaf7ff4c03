import { describePartsOnCluster } from '../../support/parts-on-cluster.js';

describePartsOnCluster('ioredis', (cluster) => cluster.client());
