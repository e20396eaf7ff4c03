import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BloomService } from 'nestjs-bloom';
import {
  BloomMetricProducer,
  BloomOpenTelemetryModule,
  type BloomOpenTelemetryOptions,
} from '../src/index.js';
import { BloomPrometheusModule } from '@nestjs-bloom/prometheus';
import { Registry } from 'prom-client';
import { startContext } from '../../../test/support/nest-app.js';
import { shop, SKUS } from '../../../test/support/observed-shop.js';

const open: { close(): Promise<void> }[] = [];

/** The SDK as an application starts it, with a reader that exports when the test asks. */
function startSdk() {
  const histograms = new BloomMetricProducer();
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 3_600_000,
    metricProducers: [histograms],
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  open.push({ close: () => meterProvider.shutdown() });
  const collect = async (): Promise<MetricData[]> => {
    exporter.reset();
    await meterProvider.forceFlush();
    return exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
  };
  return { histograms, meterProvider, collect };
}

async function startShop(options?: BloomOpenTelemetryOptions): Promise<TestingModule> {
  const { imports, providers } = shop();
  const module = await startContext({
    imports: [...imports, BloomOpenTelemetryModule.forRoot(options)],
    providers,
  });
  open.unshift(module);
  return module;
}

function metricOf(found: readonly MetricData[], name: string): object | undefined {
  return found.find(({ descriptor }) => descriptor.name === name);
}

/** The value of the one point of a metric that has these attributes. */
function valueOf(found: readonly MetricData[], name: string, attributes: object = {}): unknown {
  const metric = found.find(({ descriptor }) => descriptor.name === name);
  const points = [...(metric?.dataPoints ?? [])].filter((point) =>
    Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
  );
  if (points.length !== 1) throw new Error(`Expected one ${name}, found ${points.length}.`);
  return points[0]!.value;
}

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  metrics.disable();
});

describe('BloomOpenTelemetryModule', () => {
  it('observes on the given provider what the filters have counted, when a reader collects', async () => {
    const { meterProvider, collect } = startSdk();
    const module = await startShop({ meterProvider });
    await module.get(BloomService).filter('products').rebuild();
    const found = await collect();
    const filter = { 'bloom.filter': 'products' };
    expect(valueOf(found, 'bloom.state', { ...filter, 'bloom.state': 'ready' })).toBe(1);
    expect(valueOf(found, 'bloom.rebuilds', { ...filter, 'bloom.outcome': 'published' })).toBe(1);
    expect(valueOf(found, 'bloom.generation.ids', filter)).toBe(SKUS.length);
    expect(metricOf(found, 'bloom.generation.size')).toMatchObject({
      descriptor: { unit: 'By', description: expect.stringContaining('Memory') },
    });
    expect(metricOf(found, 'bloom.rebuilds')).toMatchObject({
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
    });
  });

  it('takes the global provider, and warns where nobody has set one', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn');
    await startShop();
    expect(warn.mock.calls.map(([text]) => text)).toContainEqual(
      expect.stringContaining('Start the SDK of OpenTelemetry before the application'),
    );
    warn.mockClear();
    await startShop({ metrics: false });
    expect(warn.mock.calls.filter(([text]) => String(text).includes('OpenTelemetry'))).toEqual([]);
    warn.mockRestore();
    const { meterProvider, collect } = startSdk();
    metrics.setGlobalMeterProvider(meterProvider);
    await startShop();
    expect(valueOf(await collect(), 'bloom.circuit.open')).toBe(0);
  });

  it('hands histograms to a reader through the producer, and none without it', async () => {
    const { meterProvider, histograms, collect } = startSdk();
    const module = await startShop({ meterProvider, histograms });
    await module.get(BloomService).filter('products').rebuild();
    const found = await collect();
    expect(metricOf(found, 'bloom.rebuild.duration')).toMatchObject({
      descriptor: { unit: 's' },
      dataPointType: DataPointType.HISTOGRAM,
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    });
    const { buckets, count, sum } = valueOf(found, 'bloom.rebuild.duration') as {
      buckets: { boundaries: number[]; counts: number[] };
      count: number;
      sum: number;
    };
    expect(count).toBe(1);
    expect(sum).toBeGreaterThan(0);
    expect(buckets.counts).toHaveLength(buckets.boundaries.length + 1);
    expect(buckets.counts.reduce((a, b) => a + b)).toBe(1);
    const typesOf = async (read: typeof collect) => (await read()).map(({ dataPointType }) => dataPointType);
    await open.shift()!.close();
    expect(await typesOf(collect)).not.toContain(DataPointType.HISTOGRAM);

    const other = startSdk();
    await startShop({ meterProvider: other.meterProvider });
    const types = await typesOf(other.collect);
    expect(types).toContain(DataPointType.SUM);
    expect(types).not.toContain(DataPointType.HISTOGRAM);
  });

  it('stops observing when the application closes, and another one goes on', async () => {
    const { meterProvider, collect } = startSdk();
    await startShop({ meterProvider });
    await open.shift()!.close();
    expect((await collect()).filter(({ dataPoints }) => dataPoints.length > 0)).toEqual([]);
    await startShop({ meterProvider });
    expect(valueOf(await collect(), 'bloom.circuit.open')).toBe(0);
  });

  it('has names that a collector turns into those of BloomPrometheusModule', async () => {
    const { meterProvider, histograms, collect } = startSdk();
    const registry = new Registry();
    const { imports, providers } = shop();
    open.unshift(
      await startContext({
        imports: [
          ...imports,
          BloomOpenTelemetryModule.forRoot({ meterProvider, histograms }),
          BloomPrometheusModule.forRoot({ registry }),
        ],
        providers,
      }),
    );
    const translated = (await collect()).map(({ descriptor: { name, unit }, dataPointType }) => {
      const suffix = { s: '_seconds', By: '_bytes', '1': '_ratio' }[unit] ?? '';
      return `${name.replaceAll('.', '_')}${suffix}${dataPointType === DataPointType.SUM ? '_total' : ''}`;
    });
    expect(translated.length).toBeGreaterThan(20);
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(translated));
  });

  it.each<[what: string, options: object, message: RegExp]>([
    ['a misspelt option', { span: true }, /Did you mean 'spans'\?/],
    ['what is no provider', { meterProvider: {} }, /expected meterProvider to be a MeterProvider/],
    ['what is no producer', { histograms: true }, /expected histograms to be a BloomMetricProducer/],
    ['a switch that is none', { spans: 'yes' }, /expected spans to be true or false, got 'yes'/],
    ['a rate that would flood Redis', { infoEveryMs: 0 }, /expected infoEveryMs/],
  ])('refuses %s', async (_, options, message) => {
    await expect(startShop(options)).rejects.toThrow(message);
  });

  it('says what is missing without BloomModule, and without a factory', async () => {
    await expect(startContext({ imports: [BloomOpenTelemetryModule.forRoot()] })).rejects.toThrow(
      /BloomOpenTelemetryModule needs the filters of BloomModule/,
    );
    expect(() => BloomOpenTelemetryModule.forRootAsync({} as never)).toThrow(/expected useFactory/);
  });

  it('takes its options from a factory', async () => {
    const { meterProvider, collect } = startSdk();
    const { imports, providers } = shop();
    const exporter = BloomOpenTelemetryModule.forRootAsync({ useFactory: async () => ({ meterProvider }) });
    open.unshift(await startContext({ imports: [...imports, exporter], providers }));
    expect(valueOf(await collect(), 'bloom.circuit.open')).toBe(0);
  });
});
