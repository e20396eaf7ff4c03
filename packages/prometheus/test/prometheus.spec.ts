import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { BloomService } from 'nestjs-bloom';
import { AggregatorRegistry, Counter, register, Registry } from 'prom-client';
import { BloomPrometheusModule, type BloomPrometheusOptions } from '../src/index.js';
import { BloomTestingModule } from 'nestjs-bloom/testing';
import { startContext } from '../../../test/support/nest-app.js';
import { samplesOf, valueOf } from './exposition.js';
import { Products, shop, SKUS } from '../../../test/support/observed-shop.js';

const open: TestingModule[] = [];

async function startShop(options?: BloomPrometheusOptions): Promise<TestingModule> {
  const { imports, providers } = shop();
  const module = await startContext({
    imports: [...imports, BloomPrometheusModule.forRoot(options)],
    providers,
  });
  open.push(module);
  return module;
}

afterEach(async () => {
  for (const module of open.splice(0)) await module.close();
  register.clear();
});

describe('BloomPrometheusModule', () => {
  it('exports what guards have seen, by method, verdict and reason', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const service = module.get(BloomService);
    const find = (sku: string) => module.get(Products).find(sku);
    await find('before-the-build');
    await service.filter('products').rebuild();
    for (const sku of SKUS) await find(sku);
    for (let i = 0; i < 30; i++) await find(`missing-${i}`);
    const [metrics] = service.metrics();
    const text = await registry.metrics();

    const method = { filter: 'products', method: 'Products.find' };
    const { absent, maybe } = metrics!.methods[0]!;
    expect(absent + maybe).toBe(80);
    expect(valueOf(text, 'bloom_lookups_total', { ...method, verdict: 'absent' })).toBe(absent);
    expect(valueOf(text, 'bloom_lookups_total', { ...method, verdict: 'maybe' })).toBe(maybe);
    expect(valueOf(text, 'bloom_lookups_total', { ...method, verdict: 'unknown', reason: 'unbuilt' })).toBe(
      1,
    );
    expect(valueOf(text, 'bloom_lookups_total', { ...method, verdict: 'unknown', reason: 'timeout' })).toBe(
      0,
    );
    expect(valueOf(text, 'bloom_saved_calls_total', method)).toBe(absent);
    expect(valueOf(text, 'bloom_found_nothing_total', method)).toBe(maybe - SKUS.length);
    expect(valueOf(text, 'bloom_wrong_absents_total', { filter: 'products' })).toBe(0);
  });

  it('exports histograms that cumulate, end with +Inf and have the sum of what was counted', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const filter = module.get(BloomService).filter('products');
    await filter.rebuild();
    await filter.addMany(['a', 'b', 'c']);
    const text = await registry.metrics();
    const buckets = samplesOf(text, 'bloom_add_batch_size_bucket').map(({ labels, value }) => [
      labels['le'],
      value,
    ]);
    expect(buckets.at(-1)).toEqual(['+Inf', 1]);
    const counts = buckets.map(([, value]) => value as number);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(valueOf(text, 'bloom_add_batch_size_sum', { filter: 'products' })).toBe(3);
    expect(valueOf(text, 'bloom_add_batch_size_count', { filter: 'products' })).toBe(1);
    for (const { labels } of samplesOf(text, 'bloom_add_duration_seconds_bucket'))
      expect(labels['le']).toMatch(/^(\+Inf|[\d.]{1,10})$/);
  });

  it('registers in the default registry while the application runs, and another application after it', async () => {
    const first = await startShop();
    expect(register.getSingleMetric('bloom_lookups_total')).toBeDefined();
    await open.splice(open.indexOf(first), 1)[0]!.close();
    expect(register.getMetricsAsArray()).toEqual([]);
    const second = await startShop();
    await second.get(Products).find('a');
    expect(
      valueOf(await register.metrics(), 'bloom_lookups_total', { verdict: 'unknown', reason: 'unbuilt' }),
    ).toBe(1);
  });

  it('exports to a registry of OpenMetrics, with default labels, and goes on when the registry is reset', async () => {
    const registry = new Registry();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
    registry.setDefaultLabels({ app: 'shop' });
    const module = await startShop({ registry });
    await module.get(Products).find('a');
    for (const text of [await registry.metrics(), await registry.metrics()]) {
      expect(valueOf(text, 'bloom_lookups_total', { app: 'shop', reason: 'unbuilt' })).toBe(1);
      expect(text).not.toContain('_total_total');
      expect(text.trimEnd().endsWith('# EOF')).toBe(true);
    }
    registry.resetMetrics();
    expect(valueOf(await registry.metrics(), 'bloom_lookups_total', { reason: 'unbuilt' })).toBe(1);
    await open.splice(open.indexOf(module), 1)[0]!.close();
    expect(registry.getMetricsAsArray()).toEqual([]);
  });

  it('exports the state, the live generation and the rebuilds of a filter', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const before = Date.now() / 1000 - 1;
    await module.get(BloomService).filter('products').rebuild();
    const text = await registry.metrics();
    const filter = { filter: 'products' };
    expect(valueOf(text, 'bloom_state', { ...filter, state: 'ready' })).toBe(1);
    expect(valueOf(text, 'bloom_state', { ...filter, state: 'lost' })).toBe(0);
    expect(valueOf(text, 'bloom_mode', { ...filter, mode: 'on' })).toBe(1);
    expect(valueOf(text, 'bloom_circuit_open', filter)).toBe(0);
    expect(valueOf(text, 'bloom_generation_built_timestamp_seconds', filter)).toBeGreaterThan(before);
    expect(valueOf(text, 'bloom_info_read_timestamp_seconds', filter)).toBeGreaterThan(before);
    expect(valueOf(text, 'bloom_generation_ids', filter)).toBe(SKUS.length);
    expect(valueOf(text, 'bloom_generation_capacity', filter)).toBeGreaterThanOrEqual(1000);
    expect(valueOf(text, 'bloom_generation_size_bytes', filter)).toBeGreaterThan(0);
    expect(valueOf(text, 'bloom_generation_fill_ratio', filter)).toBeGreaterThan(0);
    expect(valueOf(text, 'bloom_error_rate_target_ratio', filter)).toBe(0.001);
    expect(valueOf(text, 'bloom_error_rate_model_ratio', filter)).toBeLessThan(0.001);
    expect(valueOf(text, 'bloom_rebuilds_total', { ...filter, outcome: 'published' })).toBe(1);
    expect(valueOf(text, 'bloom_rebuilds_total', { ...filter, outcome: 'failed' })).toBe(0);
    expect(valueOf(text, 'bloom_rebuild_duration_seconds_count', filter)).toBe(1);
    expect(valueOf(text, 'bloom_events_total', { ...filter, type: 'rebuild-finished' })).toBe(1);
    // Handed over from before the modules were initialised.
    expect(valueOf(text, 'bloom_events_total', { ...filter, type: 'not-ready' })).toBe(1);
  });

  it('says what to do when two applications of a process share a registry, and leaves the metrics of the first', async () => {
    await startShop();
    await expect(startShop()).rejects.toThrow(
      /has a metric 'bloom_lookups_total' already.*close it first.*registry: new Registry\(\)/s,
    );
    expect(register.getSingleMetric('bloom_lookups_total')).toBeDefined();
    const registry = new Registry();
    await startShop({ registry });
    expect(registry.getSingleMetric('bloom_lookups_total')).toBeDefined();
  });

  it('takes out its own metrics alone, and puts its prefix before each name', async () => {
    const registry = new Registry();
    const own = new Counter({ name: 'own_total', help: 'Own.', registers: [registry] });
    const module = await startShop({ registry, prefix: 'shop_bloom_' });
    own.inc();
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith('shop_bloom_'))).toEqual(['own_total']);
    await open.splice(open.indexOf(module), 1)[0]!.close();
    expect(registry.getMetricsAsArray().map(({ name }) => name)).toEqual(['own_total']);
  });

  it('takes its options from a factory', async () => {
    const registry = new Registry();
    const { imports, providers } = shop();
    @Module({ providers: [{ provide: 'NAME', useValue: 'orders' }], exports: ['NAME'] })
    class SettingsModule {}
    const exporter = BloomPrometheusModule.forRootAsync({
      imports: [SettingsModule],
      inject: ['NAME'],
      useFactory: async (name: string) => ({ registry, prefix: `${name}_` }),
    });
    open.push(await startContext({ imports: [...imports, exporter], providers }));
    expect(registry.getSingleMetric('orders_lookups_total')).toBeDefined();
  });

  it('asks for the state of a filter at a bounded rate, however often it is scraped', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const info = jest.spyOn(module.get(BloomService).filter('products'), 'info');
    const texts = [await registry.metrics(), await registry.metrics(), await registry.metrics()];
    expect(info).toHaveBeenCalledTimes(1);
    const readAt = texts.map((text) => valueOf(text, 'bloom_info_read_timestamp_seconds', {}));
    expect(new Set(readAt).size).toBe(1);
  });

  it.each<[what: string, options: object, message: RegExp]>([
    ['a misspelt option', { registy: new Registry() }, /Did you mean 'registry'\?/],
    ['a prefix with a dash', { prefix: 'my-app_' }, /expected prefix to be.*got 'my-app_'/],
    ['an empty prefix', { prefix: '' }, /expected prefix/],
    ['what is no registry', { registry: {} }, /expected registry to be a Registry of prom-client/],
    ['null for a registry', { registry: null }, /expected registry/],
    [
      'a rate that would flood Redis',
      { infoEveryMs: 10 },
      /expected infoEveryMs to be .* at least 1,000, got 10/,
    ],
  ])('refuses %s', async (_, options, message) => {
    await expect(startShop(options)).rejects.toThrow(message);
  });

  it('says what is missing without BloomModule, and without a factory', async () => {
    await expect(startContext({ imports: [BloomPrometheusModule.forRoot()] })).rejects.toThrow(
      /needs the filters of BloomModule.*BloomModule.forRoot\(\)/,
    );
    expect(() => BloomPrometheusModule.forRootAsync({} as never)).toThrow(
      /expected useFactory to be a function/,
    );
  });

  it('adds up the counts of a cluster, and takes one state of its processes', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    await module.get(BloomService).filter('products').rebuild();
    await module.get(Products).find('sku-1');
    const ofProcess = await registry.getMetricsAsJSON();
    const text = await AggregatorRegistry.aggregate([ofProcess, structuredClone(ofProcess)]).metrics();
    const filter = { filter: 'products' };
    expect(valueOf(text, 'bloom_lookups_total', { ...filter, verdict: 'maybe' })).toBe(2);
    expect(valueOf(text, 'bloom_rebuild_duration_seconds_bucket', { ...filter, le: '+Inf' })).toBe(2);
    expect(valueOf(text, 'bloom_state', { ...filter, state: 'ready' })).toBe(1);
    expect(valueOf(text, 'bloom_generation_ids', filter)).toBe(SKUS.length);
  });

  it('exports what a test has put in the place of filters', async () => {
    const registry = new Registry();
    const exporter = BloomPrometheusModule.forRoot({ registry });
    const imports = [BloomTestingModule.of({ products: ['sku-1'] }), exporter];
    const module = await startContext({ imports, providers: [Products] });
    open.push(module);
    await module.get(Products).find('missing');
    const text = await registry.metrics();
    expect(valueOf(text, 'bloom_lookups_total', { filter: 'products', verdict: 'absent' })).toBe(1);
  });

  it('shows an attack from its start to its end', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const { emit } = module.get(BloomService);
    const attack = { filter: 'products', method: undefined, clients: [] };
    const active = async () =>
      valueOf(await registry.metrics(), 'bloom_attack_active', { filter: 'products' });
    expect(await active()).toBe(0);
    emit({ ...attack, type: 'attack-started', rate: 500, share: 0.9, usualRate: 1, since: new Date() });
    expect(await active()).toBe(1);
    emit({ ...attack, type: 'attack-ended', durationMs: 1000, absents: 500, peakRate: 500 });
    expect(await active()).toBe(0);
  });

  it('has no label whose values a client decides', async () => {
    const registry = new Registry();
    const module = await startShop({ registry });
    const service = module.get(BloomService);
    for (let i = 0; i < 20; i++)
      service.emit({ type: 'filter-missing', filter: `tenant-${i}`, method: `M.${i}` });
    const text = await registry.metrics();
    expect(text).not.toContain('tenant-');
    const missing = samplesOf(text, 'bloom_events_total').filter(
      ({ labels }) => labels['type'] === 'filter-missing',
    );
    expect(missing).toEqual([{ labels: { type: 'filter-missing' }, value: 20 }]);
  });
});
