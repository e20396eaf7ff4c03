import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, type BloomFeature, BloomGuarded, BloomModule, BloomService } from 'nestjs-bloom';
import { of } from 'rxjs';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const rows = new Set<string>();

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<object | null> {
    return rows.has(sku) ? { sku } : null;
  }

  @BloomGuarded('products', { onAbsent: 'empty' })
  async list(sku: string): Promise<string[]> {
    return rows.has(sku) ? [sku] : [];
  }

  @BloomGuarded('products')
  async withDefault(sku: string): Promise<object> {
    return { stock: rows.has(sku) ? 7 : 0, secret: 'of nobody' };
  }

  @BloomGuarded('products', { onAbsent: () => false })
  async exists(sku: string): Promise<boolean> {
    return rows.has(sku);
  }

  @BloomGuarded('products', { isFound: (page: { items: string[] }) => page.items.length > 0 })
  async page(sku: string): Promise<{ items: string[] }> {
    return { items: rows.has(sku) ? [sku] : [] };
  }

  @BloomGuarded('products', {
    isFound: () => {
      throw new Error('no judgement');
    },
  })
  async unjudged(sku: string): Promise<string> {
    return sku;
  }

  @BloomGuarded('products')
  async stream(sku: string): Promise<unknown> {
    return of(sku);
  }
}

describe('A guard that compares absent answers with the method', () => {
  let module: TestingModule;
  let events: BloomEvent[];
  let scans: number;

  async function start(feature: Partial<BloomFeature>) {
    rows.clear();
    events = [];
    scans = 0;
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 10_000,
            errorRate: 1e-6,
            source: {
              async *ids() {
                scans++;
                yield ['mug', ...rows];
              },
            },
            rebuild: { onBoot: 'never', drainMs: 0, minRatio: 0 },
            ...feature,
          },
        ]),
      ],
      providers: [Products],
    });
    const filter = module.get(BloomService).filter('products');
    await filter.rebuild();
    scans = 0;
    return { filter, products: module.get(Products) };
  }

  const wrongAbsents = () => events.filter((event) => event.type === 'wrong-absent');
  const count = (type: BloomEvent['type']) => events.filter((event) => event.type === type).length;
  const advice = () =>
    events.flatMap((event) =>
      event.type === 'advice' && event.text.startsWith('BLOOM_WRONG_ABSENT: Products.') ? [event.text] : [],
    );

  afterEach(() => module.close());

  it('takes an empty list, false, and what isFound says, for nothing', async () => {
    const { filter, products } = await start({ audit: { sampleRate: 1 } });
    for (let i = 0; i < 20; i++) {
      expect(await products.list(`nobody-${i}`)).toEqual([]);
      expect(await products.page(`nobody-${i}`)).toEqual({ items: [] });
      expect(await products.exists(`nobody-${i}`)).toBe(false);
    }
    expect(await products.list('mug')).toEqual([]);
    expect(await products.exists('mug')).toBe(false);
    expect(filter.guarding.counts()).toMatchObject({ wrongAbsents: 0, foundNothing: 2, absent: 60 });
    expect([count('wrong-absent'), scans]).toEqual([0, 0]);
  });

  it('in shadow mode reports wrong absents, and never takes the filter down nor adds to it', async () => {
    const { filter, products } = await start({ shadow: true });
    for (let i = 0; i < 50; i++) await products.withDefault(`nobody-${i}`);
    await eventually('all are reported', () => count('wrong-absent') === 50);
    expect(events.at(-1)).toMatchObject({ wrongAbsents: 50, absents: 50, distrusted: false });
    expect(await filter.info()).toMatchObject({ state: 'ready', builds: 1 });
    expect(await filter.check('nobody-1')).toBe('absent');
    expect([count('state-changed'), scans]).toEqual([0, 0]);
  });

  it('audits a method that returns a default with one rebuild, then blocks none of its calls and says why', async () => {
    const { filter, products } = await start({ audit: { sampleRate: 1 } });
    await products.withDefault('nobody');
    await eventually('the filter is built again', async () => (await filter.info()).builds === 2);
    await products.withDefault('nobody else');
    await eventually('its guard is off', () => wrongAbsents().length === 2);
    for (let i = 0; i < 100; i++)
      expect(await products.withDefault(`nobody-${i}`)).toMatchObject({ stock: 0 });
    expect(wrongAbsents()).toMatchObject([{ distrusted: true }, { distrusted: false, guardOff: true }]);
    expect(scans).toBe(1);
    expect(filter.guarding.counts()).toMatchObject({ unknown: 0, wrongAbsents: 2 });
    expect(await filter.check('nobody-1')).toBe('absent');
    expect(advice()).toEqual([
      expect.stringMatching(
        /Products\.withDefault returned a value \(object\).*'nobody', and has never.*isFound/s,
      ),
      expect.stringMatching(/'nobody else'.* lets every call through from now on/s),
    ]);
    expect(advice().join()).not.toContain('of nobody');
    // The guards of other methods go on.
    expect(await products.list('nobody')).toEqual([]);
    rows.add('late');
    expect(await products.find('late')).toEqual({ sku: 'late' });
    await eventually('it is recorded', async () => (await filter.check('late')) === 'maybe');
  });

  it('learns nothing from a judgement that fails, nor from a stream', async () => {
    const { products } = await start({ audit: { sampleRate: 1 } });
    expect(await products.unjudged('nobody')).toBe('nobody');
    await products.stream('nobody');
    expect(events).toContainEqual({
      type: 'guard-error',
      filter: 'products',
      method: 'Products.unjudged',
      operation: 'isFound',
      error: new Error('no judgement'),
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([count('wrong-absent'), scans]).toEqual([0, 0]);
  });
});
