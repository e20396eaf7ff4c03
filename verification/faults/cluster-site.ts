import type { BloomRedis } from '../../src/store/redis/index.js';
import { clusterSlot, SLOTS } from '../../src/store/index.js';
import { partName } from '../../src/store/redis/meta/redis-keys.js';
import { RedisCluster } from '../../test/support/redis-cluster.js';
import { TcpProxy } from '../../test/support/tcp-proxy.js';
import { clusterByChosenClient } from '../shared/redis-client.js';
import { FILTER } from './filter-kinds.js';
import type { RedisSite } from './redis-site.js';

/**
 * A cluster of three masters and three replicas. The first two instances reach the first master through a
 * door.
 */
export class ClusterSite implements RedisSite {
  private constructor(
    readonly cluster: RedisCluster,
    readonly door: TcpProxy,
  ) {}

  static async start(): Promise<ClusterSite> {
    const cluster = await RedisCluster.start();
    return new ClusterSite(cluster, await TcpProxy.open(cluster.masters[0]!.server));
  }

  connection(instance: number): BloomRedis {
    const { cluster } = this;
    const doors = instance < 2 ? [this.door] : [];
    const byIoredis = () => cluster.client(doors);
    return clusterByChosenClient(cluster.roots(doors), cluster.natMap(doors), byIoredis);
  }

  /** The hash slot of a part. */
  slotOf(part: number): number {
    return clusterSlot(partName(FILTER, part));
  }

  /** The number of the master that a part is on at first. */
  masterOf(part: number): number {
    return Math.floor((this.slotOf(part) * this.cluster.masters.length) / SLOTS);
  }

  async stop(): Promise<void> {
    await this.door.close();
    await this.cluster.stop();
  }
}
