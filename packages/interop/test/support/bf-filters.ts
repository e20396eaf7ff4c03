import type { Redis } from 'ioredis';
import type { OpenFilterOptions, StoredFilter } from 'nestjs-bloom/store';
import { bfFixture } from '../../../../test/support/bf-server.js';
import { testPlan } from '../../../../test/support/built-filter.js';
import type { Instance, RedisFixture } from '../../../../test/support/redis-fixture.js';
import { redisBloom } from '../../src/index.js';

/** Filters of `BF.*` commands on one server, each as several processes see it. */
export class BfFilters {
  private constructor(
    private readonly redis: RedisFixture,
    readonly admin: Redis,
  ) {}

  static async start(): Promise<BfFilters> {
    const redis = await bfFixture();
    return new BfFilters(redis, redis.client());
  }

  /** A name that no other test of this file uses. */
  name(): string {
    return this.redis.name();
  }

  open(name: string, opened: Partial<OpenFilterOptions> = {}): Promise<Instance> {
    return this.redis.open(name, {}, { layout: redisBloom(), plan: testPlan(), hasSource: true, ...opened });
  }

  /** A filter of its own name and key, in so many processes. */
  async instances(
    count: number,
    opened: Partial<OpenFilterOptions> = {},
  ): Promise<{ key: string; filters: StoredFilter[] }> {
    const name = this.name();
    const filters = [];
    for (let i = 0; i < count; i++) filters.push((await this.open(name, opened)).filter);
    return { key: `bloom:{${name}}:bf`, filters };
  }

  /** What a peer does. */
  call(command: string, ...args: (string | number)[]): Promise<unknown> {
    return this.admin.call(command, ...args);
  }

  close(): Promise<void> {
    return this.redis.close();
  }
}
