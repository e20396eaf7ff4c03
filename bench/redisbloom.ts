import type { Redis } from 'ioredis';
import type { BenchContext } from './harness.js';
import { clientOf } from './redis-bench.js';

/** RedisBloom's own filter, where `BLOOM_BENCH_BF_URL` names a server that has it. */
export class RedisBloom {
  private constructor(
    private readonly client: Redis,
    private readonly key: string,
  ) {}

  static async start(
    options: { ids: number; errorRate: number },
    context: BenchContext,
  ): Promise<RedisBloom | undefined> {
    const url = process.env.BLOOM_BENCH_BF_URL;
    if (!url) {
      context.skip('BF.*', 'BLOOM_BENCH_BF_URL names no server that has it');
      return undefined;
    }
    const client = clientOf(url, context);
    const key = 'bench:bf';
    await client.del(key);
    await client.call('BF.RESERVE', key, options.errorRate, options.ids);
    context.cleanUp(() => client.del(key));
    return new RedisBloom(client, key);
  }

  async has(id: string): Promise<boolean> {
    return (await this.client.call('BF.EXISTS', this.key, id)) === 1;
  }

  /** 1,000 ids a call, ten calls on the way at once. */
  async fill(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 10_000) {
      const calls = Array.from({ length: 10 }, (_, i) => ids.slice(at + i * 1000, at + (i + 1) * 1000));
      await Promise.all(
        calls.filter((call) => call.length > 0).map((call) => this.client.call('BF.MADD', this.key, ...call)),
      );
    }
  }
}
