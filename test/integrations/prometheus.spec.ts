import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { BloomService } from 'nestjs-bloom';
import { Counter, register, Registry } from 'prom-client';
import {
  BloomPrometheusModule,
  type BloomPrometheusOptions,
} from '../../src/integrations/prometheus/index.js';
import { startContext } from '../support/nest-app.js';
import { samplesOf, valueOf } from './support/exposition.js';
import { shop, SKUS } from './support/shop.js';

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
