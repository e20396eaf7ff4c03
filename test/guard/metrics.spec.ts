import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module, NotFoundException } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  BloomGuarded,
  BloomGuardedMany,
  BloomModule,
  type BloomFilterOptions,
  type BloomGuardDefaults,
  BloomIdError,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';
import type { Anything } from './support/anything.js';
import { methodOf, metricsOf, reasonsIn } from './support/metrics.js';

const ROWS = ['sku-row-1', 'sku-row-2', 'sku-row-3'];
/** In every id, and nowhere else. */
const ID = 'sku-';

@Injectable()
class Products {
  calls = 0;
  /** Ids whose rows have been deleted since the build. */
  readonly deleted = new Set<string>();

  @BloomGuarded('products')
  async find(sku: Anything): Promise<string | null> {
    this.calls++;
    return ROWS.includes(sku) && !this.deleted.has(sku) ? sku : null;
  }

  @BloomGuarded('products', { onAbsent: 'not-found' })
  async findOrFail(sku: Anything): Promise<string> {
    this.calls++;
    if (!ROWS.includes(sku)) throw new NotFoundException();
    return sku;
  }

  @BloomGuarded('products', { onUnknown: 'unavailable' })
  async findSafely(_sku: Anything): Promise<string | null> {
    this.calls++;
    return null;
  }

  @BloomGuarded('products', { id: (sku: Anything) => sku.trim() as string })
  async findByReader(_sku: Anything): Promise<string | null> {
    return null;
  }

  @BloomGuarded('products', { id: (sku: Anything) => JSON.parse(sku) as string })
  async findByParser(_sku: Anything): Promise<string | null> {
    return null;
  }

  /** As if its rows had been created past the filter. */
  @BloomGuarded('products')
  async findUnregistered(sku: Anything): Promise<string | null> {
    return sku;
  }

  @BloomGuarded('products', {
    id: () => {
      throw new BloomIdError('Not an id.');
    },
    onInvalid: () => 'invalid',
  })
  async findInvalid(_sku: Anything): Promise<string | null> {
    return null;
  }

  @BloomGuardedMany('products', { key: (row: string) => row })
  async findMany(skus: Anything[]): Promise<(string | null)[]> {
    this.calls++;
    return skus.filter((sku) => ROWS.includes(sku) && !this.deleted.has(sku));
  }

  @BloomGuardedMany('products')
  async list(skus: Anything[]): Promise<string[]> {
    this.calls++;
    return skus.filter((sku) => ROWS.includes(sku));
  }
}

let app: TestingModule | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

async function start({
  isBuilt = true,
  guard,
  ...options
}: Partial<BloomFilterOptions> & { isBuilt?: boolean; guard?: BloomGuardDefaults } = {}) {
  @Module({
    imports: [
      BloomModule.forRoot({
        logger: false,
        ...(guard && { guard }),
        filters: [
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            source: {
              async *ids() {
                yield ROWS;
              },
            },
            rebuild: { onBoot: 'never', drainMs: 0 },
            audit: false,
            ...options,
          },
        ],
      }),
    ],
    providers: [Products],
  })
  class App {}
  app = await startContext({ imports: [App] });
  const bloom = app.get(BloomService, { strict: false });
  if (isBuilt) await bloom.filter('products').rebuild();
  const products = app.get(Products, { strict: false });
  const metrics = () => metricsOf(bloom, 'products', [ID]);
  return { bloom, products, metrics, method: (name: string) => methodOf(metrics(), `Products.${name}`) };
}

describe('The metrics of a guarded method', () => {
  it('are its verdicts, what it was spared, and what it did not find', async () => {
    const { products, metrics, method } = await start();
    products.deleted.add('sku-row-3');
    for (const sku of ['sku-row-1', 'sku-row-2', 'sku-row-3', 'sku-none', 'sku-other'])
      await products.find(sku);
    await expect(products.findOrFail('sku-none')).rejects.toThrow(NotFoundException);
    expect(method('find')).toEqual({
      method: 'Products.find',
      absent: 2,
      maybe: 3,
      unknown: expect.objectContaining({ unbuilt: 0, 'invalid-id': 0 }),
      remembered: 0,
      saved: 2,
      foundNothing: 1,
    });
    expect(method('findOrFail')).toMatchObject({ absent: 1, maybe: 0, saved: 1, foundNothing: 0 });
    const { saved, guards, methods, lookups, state, mode, isCircuitOpen, queuedAdds } = metrics();
    expect(methods.map(({ method: name }) => name)).toEqual(['Products.find', 'Products.findOrFail']);
    expect({ saved, state, mode, isCircuitOpen, queuedAdds }).toEqual({
      saved: 3,
      state: 'ready',
      mode: 'on',
      isCircuitOpen: false,
      queuedAdds: 0,
    });
    expect(guards).toMatchObject({ absent: 3, maybe: 3, unknown: 0, foundNothing: 1 });
    expect({ ...lookups, unknown: reasonsIn(lookups.unknown) }).toEqual({ local: 6, remote: 0, unknown: {} });
    expect(products.calls).toBe(3);
  });

  it('save nothing in shadow mode, and see nothing while guards are off', async () => {
    const { bloom, products, method } = await start({ shadow: true, negativeCache: true });
    for (let i = 0; i < 3; i++) await products.find('sku-none');
    await products.findMany(['sku-none', 'sku-row-1']);
    expect(method('find')).toMatchObject({ absent: 3, maybe: 0, saved: 0 });
    expect(method('findMany')).toMatchObject({ absent: 1, maybe: 1, saved: 0 });
    bloom.filter('products').guarding.mode = 'off';
    await products.find('sku-none');
    await products.findMany(['sku-none', 'sku-row-1']);
    expect(method('find')).toMatchObject({ absent: 3, saved: 0 });
    bloom.filter('products').guarding.mode = 'on';
    await products.find('sku-none');
    expect(method('find')).toMatchObject({ absent: 4, saved: 1 });
  });

  it('count an audited call as absent, and not as saved', async () => {
    const { products, method } = await start({ audit: { sampleRate: 1 } });
    await products.find('sku-none');
    expect(products.calls).toBe(1);
    expect(method('find')).toMatchObject({ absent: 1, saved: 0 });
  });

  it('count what the negative cache answers', async () => {
    const { products, metrics, method } = await start({ negativeCache: true });
    products.deleted.add('sku-row-3');
    for (let i = 0; i < 3; i++) await products.find('sku-row-3');
    expect(products.calls).toBe(1);
    expect(method('find')).toMatchObject({ maybe: 1, absent: 0, remembered: 2, saved: 2, foundNothing: 1 });
    expect(metrics()).toMatchObject({ saved: 2, guards: { remembered: 2 }, lookups: { local: 1 } });
  });

  it('count each id of a list: those that were not loaded are saved', async () => {
    const { bloom, products, metrics, method } = await start();
    products.deleted.add('sku-row-3');
    expect(await products.findMany(['sku-row-1', 'sku-none', 'sku-row-3', 'sku-other'])).toEqual([
      'sku-row-1',
      null,
      null,
      null,
    ]);
    expect(method('findMany')).toMatchObject({ absent: 2, maybe: 2, saved: 2, foundNothing: 1 });
    await products.list(['sku-none', 'sku-row-2']);
    await products.list(['sku-none']);
    expect(method('list')).toMatchObject({ absent: 2, maybe: 1, saved: 2 });
    const load = bloom.filter('products').guardBatch(async (ids: string[]) => ids.map(() => 'row'));
    await load(['sku-row-1', 'sku-none', 'sku-other']);
    const { methods, saved } = metrics();
    expect(methods.at(-1)).toMatchObject({
      method: "guardBatch of filter 'products'",
      absent: 2,
      maybe: 1,
      saved: 2,
    });
    expect(saved).toBe(6);
  });

  it('have the reason of each unknown', async () => {
    const { bloom, products, metrics, method } = await start({ isBuilt: false });
    expect(metrics().state).toBe('unbuilt');
    await products.find('sku-none');
    await products.find(null);
    await products.find({ id: 'sku-none' });
    await products.findMany(['sku-row-1', null, 'sku-none']);
    await expect(products.findSafely('sku-none')).rejects.toThrow();
    await products.findByReader(7);
    expect(await products.findInvalid('sku-none')).toBe('invalid');
    const all = ['find', 'findMany', 'findSafely', 'findByReader', 'findInvalid'];
    expect(all.map((name) => reasonsIn(method(name).unknown))).toEqual([
      { unbuilt: 1, 'invalid-id': 2 },
      { unbuilt: 2, 'invalid-id': 1 },
      { unbuilt: 1 },
      { 'invalid-id': 1 },
      { 'invalid-id': 1 },
    ]);
    expect(all.map((name) => method(name).saved)).toEqual([0, 0, 1, 0, 1]);
    await bloom.filter('products').check('sku-none');
    await bloom.filter('products').checkMany(['sku-none', NaN, 'sku-row-1']);
    expect(reasonsIn(metrics().lookups.unknown)).toEqual({ unbuilt: 7, 'invalid-id': 6 });
    expect(metrics().lookups).toMatchObject({ local: 0, remote: 0 });
    await bloom.filter('products').rebuild();
    expect(await products.find('sku-none')).toBe(null);
    expect(reasonsIn(method('find').unknown)).toEqual({ unbuilt: 1, 'invalid-id': 2 });
  });

  it('have suspect as the reason after an audit has found the filter wrong, and no id in the advice', async () => {
    let gate = Promise.resolve();
    let open = () => {};
    const source = {
      async *ids() {
        await gate;
        yield ROWS;
      },
    };
    const { bloom, products, metrics, method } = await start({ audit: { sampleRate: 1 }, source });
    gate = new Promise((resolve) => (open = resolve));
    await Promise.all(['sku-late-1', 'sku-late-2'].map((sku) => products.findUnregistered(sku)));
    await eventually('the filter is not believed any more', () => metrics().state === 'suspect');
    await products.find('sku-row-1');
    expect(reasonsIn(method('find').unknown)).toEqual({ suspect: 1 });
    open();
    await bloom.whenReady();
    expect(metrics().state).toBe('ready');
    await products.findUnregistered('sku-late-3');
    await eventually('there is advice', () => metrics().advice.length > 0);
    expect(metrics().advice.join()).toContain('Products.findUnregistered returned a value');
  });

  it('have no id in the advice on a function that threw over one', async () => {
    const { products, metrics } = await start();
    await products.findByParser('sku-odd');
    expect(metrics().advice).toContainEqual(expect.stringContaining('threw SyntaxError, so the lookup'));
  });

  it('keep the counts of each application apart, though they share the decorators', async () => {
    const one = await start();
    await one.products.find('sku-none');
    const first = app;
    const two = await start();
    await two.products.find('sku-none');
    await one.products.find('sku-none');
    await two.products.find('sku-none');
    await two.products.find('sku-none');
    expect(one.method('find')).toMatchObject({ absent: 2, saved: 2 });
    expect(two.method('find')).toMatchObject({ absent: 3, saved: 3 });
    await first?.close();
  });

  it('do not change once they were given', async () => {
    const { products, metrics } = await start();
    await products.find('sku-none');
    const before = metrics();
    const text = JSON.stringify(before);
    await products.find('sku-none');
    await products.findMany(['sku-none', 'sku-row-1']);
    expect(JSON.stringify(before)).toBe(text);
    expect(JSON.stringify(metrics())).not.toBe(text);
  });
});
