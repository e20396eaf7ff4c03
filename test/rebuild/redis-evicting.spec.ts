import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { BloomRebuildError } from '../../src/common/index.js';
import { type BloomIdSource, type BloomRebuildReport, runRebuild } from '../../src/rebuild/index.js';
import type { StoredFilter } from '../../src/store/index.js';
import { build, idsOf } from '../support/built-filter.js';
import { eventually } from '../support/eventually.js';
import { expectFound } from '../support/never-absent.js';
import { leaveFree, MEBIBYTE } from '../support/full-server.js';
import { rebuildJob } from '../support/rebuild-job.js';
import { RedisFixture } from '../support/redis-fixture.js';

/** About 10 MiB. */
const LARGE = { capacity: 8_000_000, errorRate: 0.01 };
const BUILT = idsOf('built', 30);
const FREE_BYTES = 32 * MEBIBYTE;
const VALUE = 'x'.repeat(4000);
const LIFE_SECONDS = 600;
const PATIENCE_MS = 100_000;

let redis: RedisFixture;
let admin: Redis;
beforeEach(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterEach(() => redis.close());

/** Another client, whose entries expire later than anything of a rebuild. */
class Cache {
  written = 0;
  private running: Promise<void> | undefined;
  private ended = false;

  constructor(private readonly client: Redis) {}

  async fill(): Promise<void> {
    while ((await evictedKeys()) === 0) await this.write(500);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.ended = true;
    await this.running;
  }

  private async run(): Promise<void> {
    for (; !this.ended; await delay(20)) await this.write(8);
  }

  private async write(count: number): Promise<void> {
    const pipeline = this.client.pipeline();
    for (let i = 0; i < count; i++) pipeline.set(`entry:${this.written++}`, VALUE, 'EX', LIFE_SECONDS);
    await pipeline.exec();
  }
}

async function evictedKeys(): Promise<number> {
  return Number(/evicted_keys:(\d+)/.exec(await admin.info('stats'))![1]);
}

/** Takes about two seconds: the staged keys are looked after meanwhile. */
const slowSource: BloomIdSource = {
  async *ids() {
    for (const id of BUILT) {
      yield [id];
      await delay(60);
    }
  },
};

/**
 * Redis chooses by samples what it evicts, so now and then a staged key is among it: then the live filter
 * stays, and the next attempt counts. How many it takes depends on how busy the machine is.
 */
async function rebuildAgainAndAgain(filter: StoredFilter): Promise<BloomRebuildReport> {
  let report: BloomRebuildReport | undefined;
  const attempt = async () => {
    try {
      report = await runRebuild(rebuildJob(filter, slowSource, { ...LARGE, leaseMs: 30_000 }));
    } catch (error) {
      expect(['no-memory', 'lease-lost', 'staging-damaged']).toContain((error as BloomRebuildError).reason);
      await expectFound([filter], BUILT);
    }
    return report !== undefined;
  };
  await eventually('a rebuild goes live', attempt, PATIENCE_MS);
  return report!;
}

describe('A rebuild on a full server that evicts by use, while others write', () => {
  it.each(['volatile-lru', 'volatile-lfu'])(
    'goes live under %s, within some attempts',
    async (policy) => {
      await admin.config('SET', 'maxmemory-policy', policy);
      const { filter } = await redis.open('products');
      await build(filter, BUILT);
      // More samples, so that what is used least is found more often.
      await admin.config('SET', 'maxmemory-samples', '30');
      await leaveFree(admin, FREE_BYTES);
      const cache = new Cache(redis.client());
      await cache.fill();
      cache.start();
      try {
        const evictedBefore = await evictedKeys();
        expect(await rebuildAgainAndAgain(filter)).toMatchObject({ outcome: 'published' });
        // The staged generation alone takes the room of more entries.
        expect((await evictedKeys()) - evictedBefore).toBeGreaterThan(2000);
      } finally {
        await cache.stop();
      }
      await expectFound([filter], BUILT);
    },
    PATIENCE_MS + 50_000,
  );
});
