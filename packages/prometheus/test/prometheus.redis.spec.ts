import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, BloomModule, BloomService } from 'nestjs-bloom';
import { Registry } from 'prom-client';
import { BloomPrometheusModule } from '../src/index.js';
import { eventually } from '../../../test/support/eventually.js';
import { startContext } from '../../../test/support/nest-app.js';
import { PATIENT } from '../../../test/support/patience.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { samplesOf, valueOf } from './exposition.js';
import { products } from '../../../test/support/observed-shop.js';

let redis: RedisFixture;
let module: TestingModule | undefined;
const events: BloomEvent[] = [];

async function start(registry: Registry, infoEveryMs: number): Promise<TestingModule> {
  const root = BloomModule.forRoot({
    redis: redis.server.url,
    owner: 'shop',
    ...PATIENT,
    filters: [products],
    onEvent: (event) => void events.push(event),
  });
  module = await startContext({ imports: [root, BloomPrometheusModule.forRoot({ registry, infoEveryMs })] });
  return module;
}

beforeEach(async () => {
  redis = await RedisFixture.start();
});

afterEach(async () => {
  await module?.close();
  await redis.close();
  events.length = 0;
});

describe('A scrape while Redis is away', () => {
  it('shows what was known of the live generation, and reports once that Redis was not asked', async () => {
    const registry = new Registry();
    const app = await start(registry, 1000);
    await app.get(BloomService).filter('products').rebuild();
    const builtAt = valueOf(await registry.metrics(), 'bloom_generation_built_timestamp_seconds', {});
    await redis.server.kill();
    const isFailed = () => events.some((one) => one.type === 'store-error' && one.operation === 'info');
    await eventually('a question of a scrape fails', async () => {
      const text = await registry.metrics();
      expect(valueOf(text, 'bloom_generation_built_timestamp_seconds', {})).toBe(builtAt);
      return isFailed();
    });
  });

  it('comes to an end where nothing is known', async () => {
    const registry = new Registry();
    await start(registry, 60_000);
    await redis.server.kill();
    const text = await registry.metrics();
    expect(samplesOf(text, 'bloom_generation_ids')).toEqual([]);
    expect(samplesOf(text, 'bloom_mode')).toHaveLength(3);
  });
});
