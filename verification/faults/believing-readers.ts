import { setTimeout as delay } from 'node:timers/promises';
import { BloomUnavailableError } from 'nestjs-bloom';
import type { BloomRedis } from '../../src/store/redis/index.js';
import type { World } from './fault.js';
import type { RedisSite } from './redis-site.js';
import { ShopInstance } from './shop-instance.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

const ASK_EVERY_MS = 2;
const ADD_EVERY_MS = 20;

interface Replacement {
  /** State of the process that adds when another server is there. */
  readonly redis: BloomRedis;
  readonly trustAfterFailover?: boolean;
  /** Resolves when another server, or the same one with other data, takes adds. */
  readonly strike: () => Promise<unknown>;
}

/**
 * Puts another server in the place of the one that readers know, and has a process without a copy, which has
 * `leaseMs`, add to it at once. Resolves after all leases of before are over.
 *
 * @throws when no reader answered "absent" from its copy after that server had taken an add: the fault has
 * struck nobody.
 */
export async function replaceBelieved(
  world: World<RedisSite>,
  { redis, trustAfterFailover = false, strike }: Replacement,
): Promise<void> {
  const { table, capacity, copyLeaseMs, without, instances, traffic, remark } = world;
  const adder = await ShopInstance.start({
    redis,
    table,
    kind: 'blocked',
    capacity,
    copyLeaseMs,
    without,
    trustAfterFailover,
    timeoutMs: PATIENT_TIMEOUT_MS,
  });
  const absents = new LeasedAbsents(instances);
  try {
    await strike();
    const adds = new FirstAdds(adder, traffic);
    await adds.addFor(copyLeaseMs);
    const believedMs = absents.lastAt - adds.takenAt;
    if (believedMs <= 0) throw new Error('No reader answered from its copy after an add to the new server.');
    remark(
      `a reader answered "absent" from its copy until ${believedMs.toFixed(0)} ms after an add to the new server`,
    );
  } finally {
    await absents.stop();
    await adder.close();
  }
}

/** Adds, one after the other without waiting, to a server that nobody has asked before. */
class FirstAdds {
  /** By when the server had carried an add out, by `performance.now()`. */
  takenAt = Infinity;
  private readonly adding: Promise<void>[] = [];

  constructor(
    private readonly adder: ShopInstance,
    private readonly traffic: World<RedisSite>['traffic'],
  ) {}

  async addFor(ms: number): Promise<void> {
    for (const until = performance.now() + ms; performance.now() < until; await delay(ADD_EVERY_MS))
      this.adding.push(this.add(`believed-${this.adding.length}`));
    await Promise.all(this.adding);
  }

  private async add(id: string): Promise<void> {
    try {
      await this.adder.shop.create(id, () => {
        this.noteTaken();
        this.traffic.acknowledged(id);
      });
    } catch (error) {
      if (!(error instanceof BloomUnavailableError)) throw error;
    }
  }

  /**
   * Waits that have ended began, on average, this long ago; each of them when the server had carried its add
   * out.
   */
  private noteTaken(): void {
    const { adds, ms } = this.adder.bloom.metrics()[0]!.copyWaits;
    this.takenAt = Math.min(this.takenAt, performance.now() - ms / Math.max(adds, 1));
  }
}

/**
 * Asks for ids that do not exist, and notes when a copy answered that without the server, under the lease
 * that it had at first.
 */
class LeasedAbsents {
  /** When the last of these lookups began, by `performance.now()`. */
  lastAt = -Infinity;
  private isStopped = false;
  private readonly asking: Promise<unknown>;

  constructor(instances: readonly ShopInstance[]) {
    this.asking = Promise.all(instances.map((instance) => this.watch(instance)));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.asking;
  }

  private async watch({ filter, bloom }: ShopInstance): Promise<void> {
    const metrics = () => bloom.metrics()[0]!;
    const leasedAt = metrics().copyLease?.since.getTime();
    for (let n = 0; !this.isStopped; n++) {
      const at = performance.now();
      const { lookups, copyLease } = metrics();
      if (copyLease?.since.getTime() !== leasedAt) return;
      const verdict = filter.check(`nobody-leased-${n}`);
      // A copy answers within the call, in which no other lookup is counted.
      const isLocal = metrics().lookups.local > lookups.local;
      if ((await verdict) === 'absent' && isLocal) this.lastAt = at;
      await delay(ASK_EVERY_MS);
    }
  }
}
