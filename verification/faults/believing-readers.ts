import { setTimeout as delay } from 'node:timers/promises';
import { BloomUnavailableError } from 'nestjs-bloom';
import type { BloomRedis } from '../../src/store/redis/index.js';
import type { World } from './fault.js';
import type { RedisSite } from './redis-site.js';
import { ShopInstance } from './shop-instance.js';
import { PATIENT_TIMEOUT_MS } from './timings.js';

const ASK_EVERY_MS = 2;
const GIVE_UP_MS = 60_000;

interface Replacement {
  /** Of the process that adds when another server is there. */
  readonly redis: BloomRedis;
  readonly trustAfterFailover?: boolean;
  /** Resolves when another server, or the same one with other data, takes adds. */
  readonly strike: () => Promise<unknown>;
}

/**
 * Puts another server in the place of the one that readers know, and adds to it at once. Resolves after all leases of before are over.
 *
 * @throws when no reader answered "absent" from its copy after that server had taken an add: the fault has struck nobody.
 */
export async function replaceBelieved(
  world: World<RedisSite>,
  { redis, trustAfterFailover = false, strike }: Replacement,
): Promise<void> {
  const { table, kind, capacity, copyLeaseMs, without, instances, remark } = world;
  const adder = await ShopInstance.start({
    redis,
    table,
    kind,
    capacity,
    copyLeaseMs,
    without,
    trustAfterFailover,
    timeoutMs: PATIENT_TIMEOUT_MS,
  });
  const absents = new LeasedAbsents(instances);
  try {
    await strike();
    const takenAt = await firstTaken(adder, world);
    await delay(copyLeaseMs);
    const believedMs = absents.lastAt - takenAt;
    if (believedMs <= 0) throw new Error('No reader answered from its copy after an add to the new server.');
    remark(
      `a reader answered "absent" from its copy until ${believedMs.toFixed(0)} ms after an add to the new server`,
    );
  } finally {
    await absents.stop();
    await adder.close();
  }
}

/** Adds until it is known by when the server had carried an add out; that moment, by `performance.now()`. */
async function firstTaken(adder: ShopInstance, { traffic }: World<RedisSite>): Promise<number> {
  const until = performance.now() + GIVE_UP_MS;
  for (let n = 0; performance.now() < until; n++) {
    const id = `believed-${n}`;
    const calledAt = performance.now();
    const before = adder.bloom.metrics()[0]!.copyWaits;
    let takenAt: number | undefined;
    try {
      await adder.shop.create(id, () => {
        const { adds, ms } = adder.bloom.metrics()[0]!.copyWaits;
        takenAt = performance.now() - (ms - before.ms);
        // Waits of adds that were rejected before may end meanwhile.
        if (adds > before.adds + 1 || takenAt < calledAt) takenAt = undefined;
        traffic.acknowledged(id);
      });
    } catch (error) {
      if (!(error instanceof BloomUnavailableError)) throw error;
    }
    if (takenAt !== undefined) return takenAt;
    await delay(ASK_EVERY_MS);
  }
  throw new Error('The new server takes no adds.');
}

/** Asks for ids that do not exist, and notes when a copy answered that without the server, under the lease that it had at first. */
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
