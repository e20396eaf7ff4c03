import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import type { Redis } from 'ioredis';
import {
  type BloomFilterOptions,
  BloomGuarded,
  BloomGuardedMany,
  BloomModule,
  type BloomModuleOptions,
  BloomRegisters,
  BloomService,
  type BloomUnknownReason,
} from 'nestjs-bloom';
import { FilterMonitor } from '../../src/module/filter-monitor.js';
import type { ManagedFilter } from '../../src/service/index.js';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import { PATIENT } from '../support/patience.js';
import { RedisFixture } from '../support/redis-fixture.js';
import { methodOf, metricsOf, reasonsIn } from './support/metrics.js';

const ROWS = ['sku-1', 'sku-2', 'sku-3'];
const META = 'bloom:{products}:meta';

@Injectable()
class Products {
  calls = 0;

  @BloomGuarded('products')
  async find(_sku: string): Promise<string | null> {
    this.calls++;
    return null;
  }

  @BloomGuardedMany('products')
  async list(_skus: string[]): Promise<string[]> {
    this.calls++;
    return [];
  }

  @BloomRegisters('products', { onError: 'queue' })
  async create(sku: string): Promise<string> {
    return sku;
  }
}

let redis: RedisFixture;
let admin: Redis;
let app: TestingModule | undefined;
beforeEach(async () => {
  redis = await RedisFixture.start();
  admin = redis.client();
});
afterEach(async () => {
  await redis.server.kill('SIGCONT').catch(() => {});
  await app?.close();
  app = undefined;
  await redis.close();
});

async function start(options: Partial<BloomFilterOptions> = {}, module: BloomModuleOptions = {}) {
  const source = {
    async *ids() {
      yield ROWS;
    },
  };
  const filter = {
    name: 'products',
    capacity: 1000,
    errorRate: 1e-6,
    source,
    replica: 'off',
    audit: false,
  } as const;
  app = await startContext({
    imports: [
      BloomModule.forRoot({
        redis: redis.server.url,
        ...PATIENT,
        logger: false,
        ...module,
        filters: [{ ...filter, rebuild: { onBoot: 'never', drainMs: 0 }, ...options } as BloomFilterOptions],
      }),
    ],
    providers: [Products],
  });
  const bloom = app.get(BloomService, { strict: false });
  const metrics = () => metricsOf(bloom, 'products', ['sku-']);
  const products = app.get(Products, { strict: false });
  const rebuild = () => bloom.filter('products').rebuild();

  /**
   * Both methods meet the reason: two lookups, and three of a list; each is counted once, for its method and
   * for the filter.
   */
  async function expectReason(reason: BloomUnknownReason): Promise<void> {
    const before = metrics();
    const reasonOf = (name: string, of = metrics()) =>
      of.methods.find(({ method }) => method === `Products.${name}`)?.unknown[reason] ?? 0;
    await products.find('sku-none');
    await products.find('sku-1');
    await products.list(['sku-1', 'sku-none', 'sku-other']);
    const now = metrics();
    expect(reasonOf('find') - reasonOf('find', before)).toBe(2);
    expect(reasonOf('list') - reasonOf('list', before)).toBe(3);
    expect(now.guards.unknown - before.guards.unknown).toBe(5);
    const expected = { ...before.lookups.unknown, [reason]: before.lookups.unknown[reason] + 5 };
    expect(now.lookups.unknown).toEqual(expected);
    expect(now.saved).toBe(before.saved);
  }

  return { bloom, metrics, products, rebuild, expectReason };
}

describe('Guarded methods count the reason of each unknown', () => {
  it('never built, and then ready', async () => {
    const { metrics, products, rebuild, expectReason } = await start();
    await expectReason('unbuilt');
    expect(metrics().state).toBe('unbuilt');
    await rebuild();
    expect(metrics().state).toBe('ready');
    expect(await products.find('sku-none')).toBe(null);
    expect(methodOf(metrics(), 'Products.find')).toMatchObject({ absent: 1, saved: 1 });
    expect(metrics().lookups).toMatchObject({ local: 0, remote: 1 });
  });

  it('lost', async () => {
    const { metrics, products, rebuild, expectReason } = await start({
      rebuild: { onBoot: 'never', drainMs: 0, leaseMs: 60_000 },
    });
    await rebuild();
    await products.find('sku-none');
    // Nobody may build it again meanwhile.
    await admin.set('bloom:{products}:lease', 'another-process@', 'PX', 60_000);
    await admin.unlink('bloom:{products}:0');
    await expectReason('lost');
    expect(metrics().state).toBe('lost');
  });

  it('another application, a newer version', async () => {
    const { metrics, products, rebuild, expectReason } = await start({}, { owner: 'shop' });
    await rebuild();
    await admin.hset(META, 'owner', 'crm');
    await eventually('the owner is noticed', async () => {
      await products.find('sku-none');
      return metrics().lookups.unknown['other-owner'] > 0;
    });
    await expectReason('other-owner');
    expect(metrics().state).toBeUndefined();
    await admin.hset(META, 'owner', 'shop', 'format', '99');
    await eventually('the format is noticed', async () => {
      await products.find('sku-none');
      return metrics().lookups.unknown['newer-format'] > 0;
    });
    expect(reasonsIn(methodOf(metrics(), 'Products.find').unknown)).toHaveProperty('newer-format');
  });

  it('a server that does not answer, and is then not asked any more', async () => {
    const { metrics, products, rebuild } = await start({}, { timeoutMs: 40 });
    await rebuild();
    await products.find('sku-none');
    await redis.server.kill('SIGSTOP');
    await eventually('the circuit is open', async () => {
      await products.find('sku-none');
      return metrics().isCircuitOpen;
    });
    const { lookups, latencyMs } = metrics();
    expect(lookups.unknown.timeout).toBeGreaterThanOrEqual(5);
    expect(latencyMs.remote.sum).toBeGreaterThanOrEqual(5 * 39);
    await eventually('a lookup is not sent', async () => {
      await products.find('sku-none');
      return metrics().lookups.unknown.circuit > 0;
    });
    // One lookup is sent now and then: which of these it is, is not known.
    const before = metrics().lookups.unknown;
    await products.list(['sku-1', 'sku-2']);
    const { circuit, timeout } = metrics().lookups.unknown;
    expect(circuit + timeout - before.circuit - before.timeout).toBe(2);
    await redis.server.kill('SIGCONT');
    await eventually('it answers again', async () => {
      await products.find('sku-none');
      return !metrics().isCircuitOpen;
    });
    expect(await products.find('sku-none')).toBe(null);
  });

  it('and queue the adds that fail meanwhile', async () => {
    const { metrics, products, rebuild } = await start({}, { timeoutMs: 40, writeTimeoutMs: 60 });
    // On a machine that is busy a script may take longer than a write has.
    await eventually('the filter is built', () =>
      rebuild().then(
        () => true,
        () => false,
      ),
    );
    await redis.server.kill('SIGSTOP');
    await products.create('sku-new');
    expect(metrics().queuedAdds).toBe(1);
    await redis.server.kill('SIGCONT');
    await eventually('the add is recorded', () => metrics().queuedAdds === 0);
    const { batchSizes, latencyMs } = metrics();
    expect(batchSizes.add.sum).toBeGreaterThanOrEqual(2);
    expect(latencyMs.add.sum).toBeGreaterThanOrEqual(50);
  });
});

describe('Guarded methods count', () => {
  it('what the negative cache of all processes answers', async () => {
    const { metrics, products, rebuild } = await start({ negativeCache: { shared: true } });
    await rebuild();
    await eventually('the denial is remembered', async () => {
      await products.find('sku-1');
      return methodOf(metrics(), 'Products.find').remembered > 0;
    });
    const { maybe, remembered, saved, absent } = methodOf(metrics(), 'Products.find');
    expect({ saved, absent, passed: products.calls }).toEqual({
      saved: remembered,
      absent: 0,
      passed: maybe,
    });
  });

  it('how full the filter is, by its bits', async () => {
    const { bloom, rebuild } = await start({ errorRate: 0.01 });
    expect((await bloom.filter('products').info()).fillRatio).toBeUndefined();
    await rebuild();
    const first = (await bloom.filter('products').info()).fillRatio!;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(0.05);
    await bloom.filter('products').addMany(Array.from({ length: 1000 }, (_, i) => `sku-${i}`));
    const full = (await bloom.filter('products').info()).fillRatio!;
    expect(Math.abs(full - 0.5)).toBeLessThan(0.06);
  });

  it('advice while it holds', async () => {
    const { bloom, metrics } = await start();
    const monitor = new FilterMonitor(bloom.emit);
    const filter = bloom.guardable('products') as ManagedFilter;
    const texts = () => metrics().advice.filter((text) => text.includes('maxmemory'));
    await monitor.advise(filter);
    expect(texts()).toEqual([]);
    await admin.config('SET', 'maxmemory', '100mb');
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await monitor.advise(filter);
    expect(texts()).toEqual([expect.stringContaining('allkeys-lru')]);
    await monitor.advise(filter);
    expect(texts()).toHaveLength(1);
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await monitor.advise(filter);
    expect(texts()).toEqual([]);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await monitor.advise(filter);
    // A server that cannot be asked has not been mended.
    await redis.server.kill();
    await monitor.advise(filter);
    expect(texts()).toHaveLength(1);
  });

  it('what the copy answers apart from what Redis does', async () => {
    const { metrics, products, rebuild } = await start({ replica: 'verified' });
    await rebuild();
    await eventually('the copy answers', async () => {
      await products.find('sku-1');
      return metrics().lookups.local > 0;
    });
    const before = metrics().lookups;
    await Promise.all(['sku-1', 'sku-2', 'sku-none', 'sku-other'].map((sku) => products.find(sku)));
    const { local, remote } = metrics().lookups;
    expect({ local: local - before.local, remote: remote - before.remote }).toEqual({ local: 2, remote: 2 });
  });
});
