import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { BloomGuarded, BloomGuardedMany, BloomModule, BloomService } from 'nestjs-bloom';
import { BloomOpenTelemetryModule, type BloomOpenTelemetryOptions } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { products, SKUS } from '../../../test/support/observed-shop.js';

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
    this.storage.disable();
    return this;
  }
}

@Injectable()
class Catalog {
  @BloomGuarded('products', { onAbsent: 'null' })
  async find(sku: string): Promise<string | null> {
    return SKUS.includes(sku) ? sku : null;
  }

  @BloomGuarded('remembering', { onAbsent: 'null' })
  async findRemembered(_sku: string): Promise<string | null> {
    return null;
  }

  @BloomGuardedMany('products')
  async findMany(skus: string[]): Promise<string[]> {
    return skus;
  }
}

const finished = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(finished)] });
const tracer = provider.getTracer('test');
let module: TestingModule | undefined;

async function startCatalog(options: BloomOpenTelemetryOptions): Promise<Catalog> {
  module = await startContext({
    imports: [
      BloomModule.forRoot({ filters: [products, { ...products, name: 'remembering', negativeCache: true }] }),
      BloomOpenTelemetryModule.forRoot({ metrics: false, ...options }),
    ],
    providers: [Catalog],
  });
  return module.get(Catalog);
}

/** The attributes of a span in which the calls were made. */
async function attributesOf(calls: () => Promise<unknown>): Promise<object> {
  finished.reset();
  await tracer.startActiveSpan('request', async (span) => {
    await calls();
    span.end();
  });
  return finished.getFinishedSpans()[0]!.attributes;
}

beforeEach(() => {
  context.setGlobalContextManager(new AsyncContextManager());
  trace.setGlobalTracerProvider(provider);
});

afterEach(async () => {
  await module?.close();
  module = undefined;
  context.disable();
  trace.disable();
});

describe('BloomOpenTelemetryModule with spans', () => {
  it('notes filter, method, verdict and reason of a guarded call on the active span', async () => {
    const catalog = await startCatalog({ spans: true });
    const noted = { 'bloom.filter': 'products', 'bloom.method': 'Catalog.find' };
    expect(await attributesOf(() => catalog.find('sku-1'))).toEqual({
      ...noted,
      'bloom.verdict': 'unknown',
      'bloom.reason': 'unbuilt',
    });
    await module!.get(BloomService).filter('products').rebuild();
    expect(await attributesOf(() => catalog.find('sku-1'))).toEqual({
      ...noted,
      'bloom.verdict': 'maybe',
      'bloom.reason': 'filter',
    });
    expect(await attributesOf(() => catalog.find('missing'))).toMatchObject({ 'bloom.verdict': 'absent' });
    const invalid = NaN as unknown as string;
    expect(await attributesOf(() => catalog.find(invalid).catch(() => undefined))).toMatchObject({
      'bloom.verdict': 'unknown',
      'bloom.reason': 'invalid-id',
    });
  });

  it('notes the last of several calls whole, and those of each request on its own span', async () => {
    const catalog = await startCatalog({ spans: true });
    await module!.get(BloomService).filter('products').rebuild();
    const both = await attributesOf(async () => {
      await catalog.findRemembered('a');
      await catalog.find('missing');
    });
    expect(both).toMatchObject({
      'bloom.filter': 'products',
      'bloom.verdict': 'absent',
      'bloom.reason': 'filter',
    });
    finished.reset();
    await Promise.all(
      ['sku-1', 'missing', 'sku-2'].map((sku) =>
        tracer.startActiveSpan(sku, async (span) => {
          await catalog.find(sku);
          span.end();
        }),
      ),
    );
    const verdicts = finished
      .getFinishedSpans()
      .map(({ name, attributes }) => [name, attributes['bloom.verdict']]);
    expect(Object.fromEntries(verdicts)).toEqual({ 'sku-1': 'maybe', missing: 'absent', 'sku-2': 'maybe' });
  });

  it('notes that the negative cache answered', async () => {
    const catalog = await startCatalog({ spans: true });
    await module!.get(BloomService).filter('remembering').rebuild();
    const find = () => catalog.findRemembered('sku-1');
    expect(await attributesOf(find)).toMatchObject({ 'bloom.verdict': 'maybe', 'bloom.reason': 'filter' });
    expect(await attributesOf(find)).toMatchObject({
      'bloom.verdict': 'absent',
      'bloom.reason': 'negative-cache',
    });
  });

  it('never has an id in a span, makes no span, and leaves lists of ids alone', async () => {
    const catalog = await startCatalog({ spans: true });
    expect(await attributesOf(() => catalog.findMany(['sku-1', 'missing']))).toEqual({});
    await catalog.find('secret-id');
    expect(JSON.stringify(await attributesOf(() => catalog.find('secret-id')))).not.toContain('secret-id');
    expect(finished.getFinishedSpans()).toHaveLength(1);
  });

  it('notes nothing while it is off, without a span, and after the application was closed', async () => {
    const off = await startCatalog({});
    expect(await attributesOf(() => off.find('sku-1'))).toEqual({});
    await module!.close();
    const catalog = await startCatalog({ spans: true });
    expect(await catalog.find('sku-1')).toBe('sku-1');
    await module!.close();
    module = undefined;
    expect(await attributesOf(() => catalog.find('sku-1'))).toEqual({});
  });

  it('lets a call go on whose span fails, and says that it notes no more', async () => {
    const error = jest.spyOn(Logger.prototype, 'error');
    const catalog = await startCatalog({ spans: true });
    const broken = {
      isRecording: () => {
        throw new Error('broken span');
      },
    };
    const inBroken = () =>
      context.with(trace.setSpan(context.active(), broken as never), () => catalog.find('sku-1'));
    expect(await inBroken()).toBe('sku-1');
    expect(await inBroken()).toBe('sku-1');
    const said = error.mock.calls.filter(([text]) => String(text).includes('broken span'));
    expect(said).toHaveLength(1);
    error.mockRestore();
  });
});
