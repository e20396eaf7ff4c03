import 'reflect-metadata';
import { Controller, Get, Header, type INestApplication, Module } from '@nestjs/common';
import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { BloomService } from 'nestjs-bloom';
import { BloomMetricProducer, BloomOpenTelemetryModule } from '@nestjs-bloom/opentelemetry';
import { BloomPrometheusModule } from '@nestjs-bloom/prometheus';
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { register } from 'prom-client';
import { ProductRepository, ShopModule } from './shop.js';

/** As that of `@opentelemetry/context-async-hooks`. */
class AsyncContextManager implements ContextManager {
  private readonly storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT;
  }
  with<Args extends unknown[], Run extends (...args: Args) => ReturnType<Run>>(
    active: Context,
    run: Run,
    self?: ThisParameterType<Run>,
    ...args: Args
  ): ReturnType<Run> {
    return this.storage.run(active, () => run.apply(self, args));
  }
  bind<Target>(_: Context, target: Target): Target {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

const histograms = new BloomMetricProducer();
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, metricProducers: [histograms] });
const meterProvider = new MeterProvider({ readers: [reader] });

@Controller()
class OperatorController {
  @Get('metrics')
  @Header('Content-Type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}

@Module({
  imports: [
    ShopModule,
    BloomPrometheusModule.forRoot(),
    BloomOpenTelemetryModule.forRoot({ meterProvider, histograms, spans: true }),
  ],
  controllers: [OperatorController],
})
export class ObservedModule {}

/** Asserts that metrics and spans reach those who observe the application. */
export async function observe(create: () => Promise<INestApplication>): Promise<void> {
  context.setGlobalContextManager(new AsyncContextManager());
  const finished = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(finished)] });
  trace.setGlobalTracerProvider(tracerProvider);

  const app = await create();
  await app.listen(0, '127.0.0.1');
  try {
    const url = await app.getUrl();
    await app.get(BloomService).whenReady();
    await trace.getTracer('shop').startActiveSpan('request', async (span) => {
      await app.get(ProductRepository).findBySku('Z-9');
      span.end();
    });
    assert.equal(finished.getFinishedSpans()[0]?.attributes['bloom.verdict'], 'absent');
    assert.equal((await fetch(`${url}/products/Z-9`)).status, 404);

    const text = await (await fetch(`${url}/metrics`)).text();
    assert.match(
      text,
      /^bloom_lookups_total\{filter="products",method="ProductController.show",verdict="absent"\} 1$/m,
    );
    assert.match(text, /^bloom_state\{filter="products",state="ready"\} 1$/m);

    await meterProvider.forceFlush();
    const names = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .map(({ descriptor }) => descriptor.name);
    assert.ok(names.includes('bloom.lookups'));
    assert.ok(names.includes('bloom.check.duration'));
  } finally {
    await app.close();
    await meterProvider.shutdown();
  }
  assert.equal(register.getSingleMetric('bloom_lookups_total'), undefined);
  for (const file of ['nestjs-bloom.json', 'alerts.yml'])
    assert.ok(existsSync(`node_modules/@nestjs-bloom/prometheus/grafana/${file}`));
}
