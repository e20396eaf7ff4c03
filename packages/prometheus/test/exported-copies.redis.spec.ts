import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomFeed, type BloomFilterOptions, BloomModule, BloomService } from 'nestjs-bloom';
import { Registry } from 'prom-client';
import { BloomPrometheusModule } from '../src/index.js';
import { eventually } from '../../../test/support/eventually.js';
import { GrowingTable } from '../../../test/support/growing-table.js';
import { startContext } from '../../../test/support/nest-app.js';
import { PATIENT } from '../../../test/support/patience.js';
import { RedisFixture } from '../../../test/support/redis-fixture.js';
import { samplesOf, valueOf } from './exposition.js';
import { products } from '../../../test/support/observed-shop.js';

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
  it('say whether the process has a lease, why not, and, as info() does, how many adds waited', async () => {
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
    const infoOfWriter = () => writer.bloom.filter('products').info();
    expect((await infoOfWriter()).copyWaits).toEqual({ adds: 0, ms: 0 });
    const waits = async () => valueOf(await writer.registry.metrics(), 'bloom_copy_waits_total', OF_PRODUCTS);
    await eventually('an add waits', async () => {
      await writer.bloom.filter('products').add(`new-${Math.random()}`);
      return (await waits()) > 0;
    });
    const text = await writer.registry.metrics();
    expect(valueOf(text, 'bloom_copy_wait_seconds_total', OF_PRODUCTS)).toBeGreaterThan(0);
    const { copyWaits } = await infoOfWriter();
    expect(copyWaits).toEqual({ adds: await waits(), ms: expect.any(Number) });
    expect(copyWaits.ms).toBeGreaterThan(0);
    expect(writer.bloom.metrics()[0]!.copyWaits).toEqual(copyWaits);
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
    for (let i = 0; i < 10; i++) table.insert();
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
    const valuesOf = async (name: string, more = {}) =>
      valueOf(await registry.metrics(), `bloom_outside_${name}`, { ...OF_PRODUCTS, ...more });
    const ofTopUp = { option: 'topUp' };
    expect(await valuesOf('added_total', ofTopUp)).toBe(0);
    const id = table.insert();
    await eventually('the id is counted', async () => (await valuesOf('added_total', ofTopUp)) === 1);
    expect(await bloom.filter('products').check(id)).toBe('maybe');
    expect(await valuesOf('readings_total')).toBeGreaterThan(0);
    expect(await valuesOf('failures_total', ofTopUp)).toBe(0);
    table.fails = true;
    await eventually('a failure is counted', async () => (await valuesOf('failures_total', ofTopUp)) > 0);
    // Without a feed.
    const text = await registry.metrics();
    for (const name of ['feed_behind_bytes', 'feed_running', 'feed_gaps_total'])
      expect(samplesOf(text, `bloom_outside_${name}`)).toEqual([]);
    expect(samplesOf(text, 'bloom_outside_added_total').map(({ labels }) => labels)).toEqual([
      { ...OF_PRODUCTS, ...ofTopUp },
    ]);
  });

  it('say how far a feed is behind, what it added, and how often it failed or missed rows', async () => {
    let fail: (error: Error) => void = () => {};
    const feed: BloomFeed = {
      async follow({ position, signal, missed, add, save, report }) {
        if (position === undefined) missed('It begins now.');
        report({ position: '1', behindBytes: 77 });
        await eventually('the gap is filled', () => save('1'));
        await add(['committed']);
        await new Promise<void>((resolve, reject) => {
          fail = reject;
          signal.addEventListener('abort', () => resolve());
        });
      },
    };
    const { bloom, registry } = await start({ feed, rebuild: { drainMs: 1, leaseMs: 5_000 } });
    const valuesOf = async (name: string, more = {}) =>
      valueOf(await registry.metrics(), `bloom_outside_${name}`, { ...OF_PRODUCTS, ...more });
    await eventually('the feed runs', async () => (await valuesOf('feed_running')) === 1);
    expect(await valuesOf('feed_behind_bytes')).toBe(77);
    expect(await valuesOf('following')).toBe(1);
    expect(await valuesOf('feed_gaps_total')).toBe(1);
    await eventually(
      'the id is counted',
      async () => (await valuesOf('added_total', { option: 'feed' })) === 1,
    );
    expect(await valuesOf('failures_total', { option: 'feed' })).toBe(0);
    await eventually('the place is noted', async () => {
      const { outside } = await bloom.filter('products').info();
      return outside?.readAt !== undefined;
    });
    const notedAt = Date.now();
    // It would not change while the log of a database does not grow, and an alert would fire.
    await eventually('info() was read again', async () =>
      samplesOf(await registry.metrics(), 'bloom_info_read_timestamp_seconds').some(
        ({ value }) => value * 1000 >= notedAt,
      ),
    );
    expect(samplesOf(await registry.metrics(), 'bloom_outside_read_timestamp_seconds')).toEqual([]);
    fail(new Error('The log cannot be read.'));
    await eventually(
      'the failure is counted',
      async () => (await valuesOf('failures_total', { option: 'feed' })) === 1,
    );
    expect(bloom.metrics()[0]!.outside).toMatchObject({ topUp: undefined, feed: { added: 1, gaps: 1 } });
  });
});
