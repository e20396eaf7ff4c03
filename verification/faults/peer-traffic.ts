import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Peer } from '../../packages/interop/test/support/peers/peer.js';
import type { ShopInstance } from './shop-instance.js';
import type { Ledger } from './ledger.js';
import type { RedisSite } from './redis-site.js';
import type { ShopDatabase } from './shop-database.js';
import { WRITE_TIMEOUT_MS } from './timings.js';

const TICK_MS = 15;

export interface PeerTrafficOptions {
  readonly redis: ReturnType<RedisSite['connection']>;
  readonly peer: Peer;
  readonly key: string;
  readonly table: ShopDatabase;
  readonly ledger: Ledger;
  /** They are asked for what the peer adds. */
  readonly instances: readonly ShopInstance[];
}

/** Another program that creates rows, and adds their ids to the live key with its own commands. */
export class PeerTraffic {
  private readonly client: Redis;
  private readonly adds = new Set<Promise<void>>();
  private loop: Promise<void> | undefined;
  private isStopped = false;

  constructor(private readonly options: PeerTrafficOptions) {
    const others = { commandTimeout: WRITE_TIMEOUT_MS, maxRetriesPerRequest: 0, retryStrategy: () => 50 };
    const { redis } = options;
    this.client =
      typeof redis === 'string' ? new Redis(redis, others) : new Redis({ ...(redis as object), ...others });
    this.client.on('error', () => {});
  }

  start(): void {
    this.loop = this.run();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.loop;
    await Promise.all(this.adds);
    this.client.disconnect();
  }

  private async run(): Promise<void> {
    for (let i = 0; !this.isStopped; i++) {
      const add: Promise<void> = this.add(`by-peer-${i}`).finally(() => this.adds.delete(add));
      this.adds.add(add);
      await delay(TICK_MS);
    }
  }

  private async add(id: string): Promise<void> {
    const { peer, key, table, ledger, instances } = this.options;
    const pausedBeforeMs = ledger.pauses.totalMs;
    const calledAt = performance.now();
    try {
      await peer.add(this.client, key, id);
    } catch {
      // It is the peer's own trouble that its Redis is gone; it creates no row.
      return;
    }
    const addedAt = performance.now();
    const pausedMs = ledger.pauses.totalMs - pausedBeforeMs;
    ledger.acknowledgedByPeer(id);
    const lookUps = instances.map(async ({ filter }) => {
      if ((await filter.check(id)) === 'absent') ledger.wasAbsent(id);
    });
    await table.insert(id);
    const visibleAt = performance.now();
    ledger.visible(id, { sinceCallMs: visibleAt - calledAt, sinceAddedMs: visibleAt - addedAt, pausedMs });
    await Promise.all(lookUps);
  }
}
