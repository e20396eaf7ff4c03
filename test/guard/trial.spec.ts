import { type ExecutionContext, Controller, Get, Injectable, Param, UseInterceptors } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type BloomEvent,
  type BloomFilterOptions,
  BloomGuarded,
  BloomGuardedMany,
  BloomInterceptor,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { type Observable, of } from 'rxjs';
import { eventually } from '../support/eventually.js';
import { given } from '../support/given.js';
import { PLATFORMS, type RunningApp, startApp, startContext } from '../support/nest-app.js';

const TRIAL = 20;
const rows = new Set<string>();
/** Without a source nothing is audited after the trial. */
const UNSAMPLED = { source: undefined, rebuild: { drainMs: 0 }, create: 'first-start' } as const;
const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

@Injectable()
class Products {
  calls = 0;

  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    this.calls++;
    return rows.has(sku) ? sku : null;
  }

  @BloomGuarded('products')
  async findElse(sku: string): Promise<string | null> {
    return this.find(sku);
  }

  @BloomGuarded('products', { coalesce: { key: () => '' } })
  async findTogether(sku: string): Promise<string | null> {
    this.calls++;
    await new Promise(setImmediate);
    return rows.has(sku) ? sku : null;
  }

  /** Nobody knows yet whether it finds something. */
  @BloomGuarded('products')
  async stream(sku: string): Promise<Observable<string>> {
    this.calls++;
    return of(sku);
  }

  @BloomGuardedMany('products', { key: (row: { sku: string }) => row.sku })
  async findMany(skus: string[]): Promise<({ sku: string } | null)[]> {
    return this.rowsOf(skus);
  }

  @BloomGuardedMany('products')
  async list(skus: string[]): Promise<{ sku: string }[]> {
    return this.rowsOf(skus);
  }

  rowsOf(skus: readonly string[]): { sku: string }[] {
    this.calls++;
    return skus.filter((sku) => rows.has(sku)).map((sku) => ({ sku }));
  }
}

@Injectable()
class AnsweringAbsent extends BloomInterceptor {
  protected override answerAbsent(_context: ExecutionContext): unknown {
    return { none: true };
  }
}

@Controller('products')
class ProductController {
  @Get(':id')
  @UseInterceptors(AnsweringAbsent)
  @BloomGuarded('products')
  async find(@Param('id') id: string): Promise<object> {
    return rows.has(id) ? { id } : { none: 'asked' };
  }
}

describe('A guard on trial', () => {
  let app: TestingModule | RunningApp;
  let events: BloomEvent[];

  function bloom(options: Partial<BloomFilterOptions>) {
    rows.clear();
    events = [];
    return BloomModule.forRoot({
      onEvent: (event) => events.push(event),
      filters: [
        given({
          name: 'products',
          capacity: 10_000,
          errorRate: 1e-6,
          source: {
            async *ids() {
              yield ['mug'];
            },
          },
          rebuild: { drainMs: 0 },
          ...options,
        }),
      ],
    });
  }

  async function start(options: Partial<BloomFilterOptions> = {}) {
    const module = await startContext({ imports: [bloom(options)], providers: [Products] });
    app = module;
    const service = module.get(BloomService);
    await service.whenReady();
    return { products: module.get(Products), filter: service.filter('products'), service };
  }

  const wrongAbsents = () => events.filter((event) => event.type === 'wrong-absent');

  afterEach(() => app.close());

  it.each(['find', 'findTogether', 'stream'] as const)(
    'lets its first absent ids through to %s, and then blocks them',
    async (method) => {
      const { products, filter } = await start(UNSAMPLED);
      for (const sku of ids('none', 60)) await products[method](sku);
      expect(products.calls).toBe(TRIAL);
      expect(filter.guarding.counts()).toMatchObject({ absent: 60, wrongAbsents: 0 });
    },
  );

  it('is one of many: each has a trial of its own', async () => {
    const { products } = await start(UNSAMPLED);
    for (const sku of ids('none', 60)) await products.find(sku);
    // Each of these meets the guard of the other method too, which blocks.
    for (const sku of ids('none', 60)) expect(await products.findElse(sku)).toBeNull();
    expect(products.calls).toBe(TRIAL);
  });

  it.each([false, { sampleRate: 0 }] as const)('is none with audit: %p', async (audit) => {
    const { products } = await start({ audit });
    rows.add('late');
    for (const sku of ['late', ...ids('none', 60)]) expect(await products.find(sku)).toBeNull();
    expect(products.calls).toBe(0);
  });

  it('finds calls that share a run, and reports each id once', async () => {
    const { products } = await start(UNSAMPLED);
    rows.add('late');
    const found = await Promise.all(Array.from({ length: 10 }, () => products.findTogether('late')));
    expect(found).toEqual(Array(10).fill('late'));
    expect(products.calls).toBe(1);
    await eventually('it is reported', () => wrongAbsents().length > 0);
    expect(wrongAbsents()[0]).toMatchObject({ method: 'Products.findTogether', guardOff: true });
    expect(wrongAbsents().filter(({ guardOff }) => guardOff)).toHaveLength(1);
  });

  it('begins again when the filter is not believed any more', async () => {
    const { products, service } = await start();
    for (const sku of ids('none', TRIAL)) await products.find(sku);
    rows.add('late');
    // Reported by another guard.
    await products.list(['late']);
    await eventually(
      'the filter is rebuilt',
      async () => (await service.filter('products').info()).builds === 2,
    );
    rows.add('later');
    expect(await products.find('later')).toBe('later');
  });

  it.each(['findMany', 'list'] as const)(
    'lets the ids of %s through, and is off where it is wrong twice',
    async (method) => {
      const { products, filter } = await start();
      for (const sku of ids('row', 50)) rows.add(sku);
      expect(await products[method](['row-0', 'row-1'])).toEqual([{ sku: 'row-0' }, { sku: 'row-1' }]);
      await eventually('the filter is rebuilt', async () => (await filter.info()).builds === 2);
      expect(await products[method](['row-2'])).toEqual([{ sku: 'row-2' }]);
      await eventually('the guard is off', () => wrongAbsents().some(({ guardOff }) => guardOff));
      expect(await products[method](['mug', ...ids('row', 50)])).toHaveLength(method === 'list' ? 50 : 51);
      const missing = method === 'findMany' ? [null] : [];
      expect(await products[method](['none'])).toEqual(missing);
    },
  );

  it('lets the ids of a batch through', async () => {
    const { products, filter } = await start({
      source: undefined,
      rebuild: { drainMs: 0 },
      create: 'first-start',
    });
    for (const sku of ids('row', 50)) rows.add(sku);
    const load = filter.guardBatch(async (skus: string[]) => products.rowsOf(skus), {
      key: ({ sku }) => sku,
    });
    expect(await load(['row-0'])).toEqual([{ sku: 'row-0' }]);
    await eventually('the guard is off', () => wrongAbsents().some(({ guardOff }) => guardOff));
    expect((await load(ids('row', 50))).filter((row) => row === null)).toEqual([]);
  });

  it.each(PLATFORMS)('asks a route of %s before an interceptor answers for it', async (platform) => {
    const running = await startApp(platform, { imports: [bloom({})], controllers: [ProductController] });
    app = running;
    await running.app.get(BloomService).whenReady();
    for (const id of ids('none', TRIAL)) {
      expect((await running.get(`/products/${id}`)).body).toEqual({ none: 'asked' });
      // What the route answers stands for a row, since it is no error.
      if (wrongAbsents().length > 0) break;
    }
    await eventually('it is reported', () => wrongAbsents().length > 0);
    expect(wrongAbsents()[0]).toMatchObject({ method: 'ProductController.find', distrusted: true });
  });
});
