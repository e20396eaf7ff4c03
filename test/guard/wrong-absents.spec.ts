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

  const count = (type: BloomEvent['type']) => events.filter((event) => event.type === type).length;
  const advice = () => events.filter((event) => event.type === 'advice').map(({ text }) => text);

  afterEach(() => module.close());

  it('takes an empty list, and what isFound says, for nothing', async () => {
    const { filter, products } = await start({ audit: { sampleRate: 1 } });
    for (let i = 0; i < 20; i++) {
      expect(await products.list(`nobody-${i}`)).toEqual([]);
      expect(await products.page(`nobody-${i}`)).toEqual({ items: [] });
    }
    expect(await products.list('mug')).toEqual([]);
    expect(filter.guarding.counts()).toMatchObject({ wrongAbsents: 0, foundNothing: 1, absent: 40 });
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

  it('audits a method that returns a default with one rebuild, then says what is wrong with it', async () => {
    const { filter, products } = await start({ audit: { sampleRate: 1 } });
    await products.withDefault('nobody');
    await eventually('the filter is built again', async () => (await filter.info()).builds === 2);
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 100; i++) await products.withDefault(`nobody-${round}-${i}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await eventually('all are reported', () => count('wrong-absent') === 501);
    expect(scans).toBe(1);
    expect(filter.guarding.counts().unknown).toBe(0);
    expect(await filter.check('nobody-1-1')).toBe('absent');
    expect(advice().filter((text) => text.includes('Products.withDefault'))).toEqual([
      expect.stringMatching(
        /Products\.withDefault returned a value \(object\).*'nobody-0-0'.*never.*isFound/s,
      ),
    ]);
    expect(advice().join()).not.toContain('of nobody');
  });

  it('records ids one by one while it must not rebuild, for a method that has found nothing before', async () => {
    const { filter, products } = await start({ audit: { sampleRate: 1 } });
    await products.find('nobody');
    rows.add('one');
    await products.find('one');
    await eventually('the filter is built again', async () => (await filter.info()).builds === 2);
    for (let i = 0; i < 200; i++) {
      rows.add(`late-${i}`);
      expect(await products.find(`late-${i}`)).toEqual({ sku: `late-${i}` });
    }
    await eventually('they are recorded', async () => (await filter.check('late-99')) === 'maybe');
    expect([await filter.check('late-0'), await filter.check('late-150')]).toEqual(['maybe', 'absent']);
    expect(scans).toBe(1);
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
