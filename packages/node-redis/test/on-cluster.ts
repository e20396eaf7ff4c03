import type { createCluster } from 'redis';
import type { BloomRedis } from '../../../src/store/redis/index.js';
import { describePartsOnCluster } from '../../../test/support/parts-on-cluster.js';
import { describeRedisClient } from '../../../test/support/redis-client-contract.js';
import type { Address } from '../../../test/support/tcp-proxy.js';

type ClusterOptions = Parameters<typeof createCluster>[0];

/** What a Cluster of node-redis has to keep. */
export function describeOnCluster(name: string, redisOf: (options: ClusterOptions) => BloomRedis): void {
  describeRedisClient(
    name,
    (url) => redisOf({ rootNodes: [{ url }], nodeAddressMap: () => addressOf(url) }),
    { isCluster: true },
  );
  describePartsOnCluster(name, (cluster) =>
    redisOf({
      rootNodes: cluster.roots().map((socket) => ({ socket })),
      nodeAddressMap: cluster.natMap(),
    }),
  );
}

export function addressOf(url: string): Address {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
}
