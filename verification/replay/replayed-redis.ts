import { setTimeout as delay } from 'node:timers/promises';
import { clusterSlot, SLOTS } from '../../src/store/index.js';
import { partName } from '../../src/store/redis/meta/redis-keys.js';
import { eventually } from '../../test/support/eventually.js';
import { RedisCluster } from '../../test/support/redis-cluster.js';
import { startRedis } from '../../test/support/redis-server.js';
import type { InstanceOptions } from './instance-protocol.js';

/** What has happened to a cluster while a replay ran. */
export interface Troubles {
  readonly slotsMoved: number;
  readonly failovers: number;
}

/** The Redis of one replay. */
export interface ReplayedRedis {
  readonly address: Pick<InstanceOptions, 'redisUrl' | 'natMap'>;
  /**
   * To be called while the replay runs, with the share of it that is over: what happens to Redis begins at
   * certain shares.
   */
  reached(share: number): void;
  /**
   * Waits for what has begun. Undefined for a single server.
   *
   * @throws what has failed.
   */
  settled(): Promise<Troubles | undefined>;
  stop(): Promise<void>;
}

const FILTER = 'products';
/** Shares of the replay at which slots begin to move, and at which a master dies. */
const MOVES_FROM = 0.1;
const DIES_AT = 0.5;
/** Parts whose slots move, one after the other, while lookups and rebuilds go on. */
const MOVED_PARTS = [0, 1, 2, 3, 4, 5];
const BETWEEN_MOVES_MS = 500;

export async function startReplayedRedis(isCluster: boolean): Promise<ReplayedRedis> {
  if (isCluster) return new ReplayedCluster(await RedisCluster.start());
  const server = await startRedis();
  return {
    address: { redisUrl: server.url },
    reached() {},
    settled: async () => undefined,
    stop: () => server.stop(),
  };
}

/**
 * Three masters and three replicas: slots move from node to node, and a replica takes over in the middle of a
 * rebuild.
 */
class ReplayedCluster implements ReplayedRedis {
  readonly address: ReplayedRedis['address'];

  private slotsMoved = 0;
  private failovers = 0;
  private moves: Promise<void> | undefined;
  private death: Promise<void> | undefined;

  constructor(private readonly cluster: RedisCluster) {
    this.address = { redisUrl: cluster.masters[0]!.server.url, natMap: cluster.natMap() };
  }

  reached(share: number): void {
    if (share >= MOVES_FROM) this.moves ??= begun(this.moveSlots());
    // The nodes have to agree on who has which slot first.
    if (share >= DIES_AT) this.death ??= begun(this.moves!.then(() => this.failOver()));
  }

  async settled(): Promise<Troubles> {
    await this.moves;
    await this.death;
    const { slotsMoved, failovers } = this;
    return { slotsMoved, failovers };
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  private async moveSlots(): Promise<void> {
    const { masters } = this.cluster;
    for (const part of MOVED_PARTS) {
      const slot = clusterSlot(partName(FILTER, part));
      const from = Math.floor((slot * masters.length) / SLOTS);
      await this.cluster.move(slot, masters[from]!, masters[(from + 1) % masters.length]!);
      this.slotsMoved++;
      await delay(BETWEEN_MOVES_MS);
    }
  }

  /** While a rebuild writes to that master. */
  private async failOver(): Promise<void> {
    const last = this.cluster.masters.length - 1;
    const { server, admin } = this.cluster.masters[last]!;
    await eventually('a rebuild has staged parts on the master', async () => {
      const [, keys] = (await admin.scan(0, 'MATCH', 'bloom:*:next:*', 'COUNT', 10_000)) as [
        string,
        string[],
      ];
      return keys.length > 0;
    });
    await server.kill();
    await this.cluster.promote(last);
    this.failovers++;
  }
}

/** Rejections are handled where the promise is awaited, which is later. */
function begun(work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return work;
}
