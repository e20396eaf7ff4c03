import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomFilterOptions, BloomModule, BloomService } from 'nestjs-bloom';
import { Registry } from 'prom-client';
import { BloomPrometheusModule } from '../../src/integrations/prometheus/index.js';
import { eventually } from '../support/eventually.js';
import { GrowingTable } from '../support/growing-table.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { samplesOf, valueOf } from './support/exposition.js';
import { products } from './support/shop.js';

const OF_PRODUCTS = { filter: 'products' };

let redis: RedisFixture;
const opened: TestingModule[] = [];

beforeEach(async () => {
  redis = await RedisFixture.start();
});

afterEach(async () => {
  for (const module of opened.splice(0)) await module.close();
  await redis.close();
});

async function start(
  options: Partial<BloomFilterOptions>,
): Promise<{ bloom: BloomService; registry: Registry }> {
  const registry = new Registry();
  const filters = [{ ...products, ...options }];
  const root = BloomModule.forRoot({ redis: redis.server.url, logger: false, ...PATIENT, filters });
  const module = await startContext({
    imports: [root, BloomPrometheusModule.forRoot({ registry, infoEveryMs: 1000 })],
  });
  opened.push(module);
  return { bloom: module.get(BloomService), registry };
}

const reasonsOf = (text: string) =>
  samplesOf(text, 'bloom_copy_unleased').flatMap(({ labels, value }) =>
    value === 1 ? [labels['reason']] : [],
  );

describe('Metrics of leased copies', () => {
  it('say whether the process has a lease, why not, and how many adds waited', async () => {
    const reader = await start({ replica: 'leased', leaseMs: 1000 });
    const { bloom, registry } = reader;
    expect(valueOf(await registry.metrics(), 'bloom_copy_leased', OF_PRODUCTS)).toBe(0);
    expect(reasonsOf(await registry.metrics())).toEqual(['not-loaded']);
    await bloom.filter('products').rebuild();
    await eventually('the copy is leased', async () => {
      await bloom.filter('products').check('absent');
      return valueOf(await registry.metrics(), 'bloom_copy_leased', OF_PRODUCTS) === 1;
    });
    const leased = bloom.metrics()[0]!.copyLease!;
    expect(leased).toMatchObject({ isLeased: true, reason: undefined, cause: undefined });

    const writer = await start({ replica: 'off' });
    const waits = async () => valueOf(await writer.registry.metrics(), 'bloom_copy_waits_total', OF_PRODUCTS);
    await eventually('an add waits', async () => {
      await writer.bloom.filter('products').add(`new-${Math.random()}`);
      return (await waits()) > 0;
    });
    const text = await writer.registry.metrics();
    expect(valueOf(text, 'bloom_copy_wait_seconds_total', OF_PRODUCTS)).toBeGreaterThan(0);
    // A process without a copy has no figures of one.
    expect(samplesOf(text, 'bloom_copy_leased')).toEqual([]);
    expect(reasonsOf(text)).toEqual([]);
    expect(writer.bloom.metrics()[0]!.copyLease).toBeUndefined();

    await redis.server.kill();
    await eventually('the lease has ended', async () => {
      const later = await registry.metrics();
      return valueOf(later, 'bloom_copy_leased', OF_PRODUCTS) === 0 && reasonsOf(later).length === 1;
    });
    expect(bloom.metrics()[0]!.copyLease!.reason).toEqual(expect.any(String));
  });
});

describe('Metrics of parts', () => {
  it('count them by state', async () => {
    const { bloom, registry } = await start({ partitions: 4 });
    await bloom.filter('products').rebuild();
    const ready = async () =>
      valueOf(await registry.metrics(), 'bloom_parts', { ...OF_PRODUCTS, state: 'ready' });
    await eventually('all parts are ready', async () => (await ready()) === 4);
    expect(valueOf(await registry.metrics(), 'bloom_parts', { ...OF_PRODUCTS, state: 'unreachable' })).toBe(
      0,
    );
  });
});

describe('Metrics of rows that others write', () => {
  it('say who reads them, and when that was last', async () => {
    const table = new GrowingTable();
    table.insert();
    const startedAt = Math.floor(Date.now() / 1000);
    const { bloom, registry } = await start({
      source: table.source(),
      topUp: { everyMs: 20, overlapMs: 100 },
      rebuild: { drainMs: 50, leaseMs: 5_000 },
    });
    await bloom.filter('products').rebuild();
    await eventually('this process has read', async () =>
      samplesOf(await registry.metrics(), 'bloom_outside_read_timestamp_seconds').some(
        ({ value }) => value >= startedAt,
      ),
    );
    await eventually(
      'this process follows',
      async () => valueOf(await registry.metrics(), 'bloom_outside_following', OF_PRODUCTS) === 1,
    );
    // Without a feed.
    expect(samplesOf(await registry.metrics(), 'bloom_outside_feed_behind_bytes')).toEqual([]);
  });
});
