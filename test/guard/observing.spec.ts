import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, NotFoundException } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { type BloomEvent, type BloomFeature, BloomGuarded, BloomModule, BloomService } from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { startContext } from '../support/nest-app.js';

const rows = new Set<string>();
/** What a slow method waits for. */
let slow: Promise<void> = Promise.resolve();

@Injectable()
class Products {
  calls = 0;

  @BloomGuarded('products')
  async find(sku: string): Promise<{ sku: string } | null> {
    this.calls++;
    await new Promise(setImmediate);
    return rows.has(sku) ? { sku } : null;
  }

  @BloomGuarded('products')
  async get(sku: string): Promise<{ sku: string }> {
    this.calls++;
    if (sku === 'broken') throw new Error('The database is down.');
    if (!rows.has(sku)) throw new NotFoundException();
    return { sku };
  }

  /** Tells long after it has read. */
  @BloomGuarded('products')
  async findSlowly(sku: string): Promise<{ sku: string } | null> {
    const isThere = rows.has(sku);
    await slow;
    return isThere ? { sku } : null;
  }

  @BloomGuarded('products', {
    coalesce: { key: (_sku: string, version?: object) => (version ? undefined : '') },
  })
  async share(sku: string, version?: object): Promise<object> {
    this.calls++;
    await new Promise(setImmediate);
    if (sku === 'broken') throw new Error('The database is down.');
    return { sku, version };
  }
}

describe('A guard that observes', () => {
  let module: TestingModule;
  let events: BloomEvent[];

  async function start(feature: Partial<BloomFeature> = {}) {
    events = [];
    module = await startContext({
      imports: [
        BloomModule.forRoot({ onEvent: (event) => events.push(event) }),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 1000,
            errorRate: 1e-6,
            source: {
              async *ids() {
                yield [...rows];
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
    return { filter, products: module.get(Products) };
  }

  /** A filter in which every bit is set. */
  async function startSaturated(feature: Partial<BloomFeature> = {}) {
    const started = await start({ capacity: 1, errorRate: 0.001, ...feature });
    await started.filter.addMany(Array.from({ length: 20_000 }, (_, i) => `filler-${i}`));
    return started;
  }

  beforeEach(() => {
    rows.clear();
    rows.add('mug');
  });

  afterEach(() => module.close());

  describe('and meets a false positive', () => {
    it('counts it, whether the method gives null or throws NotFound', async () => {
      const { filter, products } = await startSaturated();
      await products.find('nothing');
      await expect(products.get('nothing')).rejects.toThrow(NotFoundException);
      await products.find('mug');
      expect(filter.guarding.counts()).toMatchObject({ maybe: 3, foundNothing: 2, absent: 0 });
      expect(filter.guarding.counts().letThroughRate).toBe(1);
    });

    it('does not take a failure of the method for one', async () => {
      const { filter, products } = await startSaturated();
      await expect(products.get('broken')).rejects.toThrow('The database is down.');
      expect(filter.guarding.counts()).toMatchObject({ maybe: 1, foundNothing: 0 });
    });

    it('lets it reach the method once in its life, not once for each request', async () => {
      const { filter, products } = await startSaturated({ negativeCache: true });
      for (let i = 0; i < 50; i++) expect(await products.find('nothing')).toBeNull();
      expect(products.calls).toBe(1);
      expect(filter.guarding.counts()).toMatchObject({ foundNothing: 1, remembered: 49 });
    });

    it.each([false, true])('counts each call once, with shadow: %s', async (shadow) => {
      const { filter, products } = await startSaturated({ negativeCache: true, shadow });
      for (let i = 0; i < 50; i++) expect(await products.find('nothing')).toBeNull();
      expect(products.calls).toBe(shadow ? 50 : 1);
      const { absent, unknown, invalid, maybe, remembered } = filter.guarding.counts();
      expect([absent + unknown + invalid, maybe, remembered]).toEqual([0, 1, 49]);
    });

    it('lets it reach the method again when its life is over', async () => {
      const { products } = await startSaturated({ negativeCache: { lifeMs: 20 } });
      await products.find('nothing');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await products.find('nothing');
      expect(products.calls).toBe(2);
    });

    it('forgets it before an add of the id resolves, in any spelling', async () => {
      const { filter, products } = await startSaturated({ negativeCache: true });
      await products.find('7');
      rows.add('7');
      await filter.add(7n);
      expect(await products.find('7')).toEqual({ sku: '7' });
    });

    it('does not remember an id whose row is not visible yet, whether it was added before or during the lookup', async () => {
      const { filter, products } = await startSaturated({
        negativeCache: true,
        rebuild: { drainMs: 60_000, onBoot: 'never' },
      });
      const lookUp = products.find('late');
      await filter.addMany(['late', 'early']);
      expect(await lookUp).toBeNull();
      expect(await products.find('early')).toBeNull();
      rows.add('late').add('early');
      expect(await products.find('late')).toEqual({ sku: 'late' });
      expect(await products.find('early')).toEqual({ sku: 'early' });
    });

    it('remembers it for the method that found nothing, and for no other', async () => {
      const { products } = await startSaturated({ negativeCache: true });
      await products.find('nothing');
      await expect(products.get('nothing')).rejects.toThrow(NotFoundException);
      expect(products.calls).toBe(2);
    });

    it('forgets it when a rebuild returns its row, also what was read before', async () => {
      const { filter, products } = await startSaturated({ negativeCache: true });
      await products.find('imported');
      let tell = () => {};
      slow = new Promise((resolve) => (tell = resolve));
      const lookUp = products.findSlowly('imported too');
      await new Promise(setImmediate);
      rows.add('imported').add('imported too');
      await filter.rebuild();
      tell();
      expect(await lookUp).toBeNull();
      expect(await products.find('imported')).toEqual({ sku: 'imported' });
      expect(await products.findSlowly('imported too')).toEqual({ sku: 'imported too' });
    });

    it('remembers nothing for a while after more adds than it can keep', async () => {
      const { filter, products } = await startSaturated({
        negativeCache: true,
        rebuild: { drainMs: 60_000, onBoot: 'never' },
      });
      await filter.addMany(Array.from({ length: 100_001 }, (_, i) => `many-${i}`));
      expect(await products.find('many-7')).toBeNull();
      rows.add('many-7');
      expect(await products.find('many-7')).toEqual({ sku: 'many-7' });
    });

    it('keeps no more of them than it is told to', async () => {
      const { products } = await startSaturated({ negativeCache: { maxIds: 2 } });
      for (const sku of ['a', 'b', 'c', 'a']) await products.find(sku);
      expect(products.calls).toBe(4);
    });
  });

  describe('in shadow mode', () => {
    it('blocks nothing, and counts what it would have blocked', async () => {
      const { filter, products } = await start({ shadow: true });
      expect(await products.find('nothing')).toBeNull();
      expect(products.calls).toBe(1);
      expect(filter.guarding.counts()).toMatchObject({ absent: 1, wrongAbsents: 0 });
    });

    it('blocks from the moment it is switched on', async () => {
      const { filter, products } = await start({ shadow: true, audit: false });
      filter.guarding.mode = 'on';
      await products.find('nothing');
      expect(products.calls).toBe(0);
    });

    it('reports a row that the filter denies', async () => {
      const { products } = await start({ shadow: true });
      rows.add('imported');
      expect(await products.find('imported')).toEqual({ sku: 'imported' });
      await eventually('it is reported', () => events.some(({ type }) => type === 'wrong-absent'));
    });
  });

  describe('that is switched off', () => {
    it('does not ask the filter, until it is switched on again', async () => {
      const { filter, products } = await start({ audit: false });
      filter.guarding.mode = 'off';
      await products.find('nothing');
      expect(products.calls).toBe(1);
      expect(filter.guarding.counts()).toMatchObject({ absent: 0 });
      filter.guarding.mode = 'on';
      await products.find('nothing');
      expect(products.calls).toBe(1);
    });
  });

  describe('that is audited', () => {
    it('lets about the given share of absent answers through', async () => {
      const { products } = await start({ audit: { sampleRate: 0.2 } });
      for (let i = 0; i < 2000; i++) await products.find(`nothing-${i}`);
      expect(products.calls).toBeGreaterThan(300);
      expect(products.calls).toBeLessThan(500);
    });

    it('takes the filter offline for a wrong absent, tells the id, and has it rebuilt with the id', async () => {
      const { filter, products } = await start({ audit: { sampleRate: 1 } });
      rows.add('imported');
      expect(await products.find('imported')).toEqual({ sku: 'imported' });
      await eventually('it is rebuilt', async () => (await filter.info()).builds === 2);
      expect(events).toContainEqual({
        type: 'wrong-absent',
        filter: 'products',
        id: 'imported',
        method: 'Products.find',
        wrongAbsents: 1,
        absents: 1,
        distrusted: true,
      });
      expect(events).toContainEqual(expect.objectContaining({ type: 'state-changed', state: 'suspect' }));
      expect(filter.guarding.counts().wrongAbsents).toBe(1);
      expect(await filter.check('imported')).toBe('maybe');
      expect(await filter.check('nothing')).toBe('absent');
    });

    it('does not mistake an id that was added during the lookup for one', async () => {
      const { filter, products } = await start({ audit: { sampleRate: 1 } });
      const lookUp = products.find('new');
      await Promise.resolve();
      rows.add('new');
      await filter.add('new');
      expect(await lookUp).toEqual({ sku: 'new' });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(events.filter(({ type }) => type === 'wrong-absent')).toEqual([]);
    });
  });

  describe('that coalesces', () => {
    it('shares one call among equal ones of one time, and its result', async () => {
      const { products } = await startSaturated();
      const results = await Promise.all([
        products.share('mug'),
        products.share('mug'),
        products.share('cup'),
      ]);
      expect(products.calls).toBe(2);
      expect(results[0]).toBe(results[1]);
      await products.share('mug');
      expect(products.calls).toBe(3);
    });

    it('does not share the call of an id whose row may be on its way, from its add on', async () => {
      // With a negative cache adds are noted from the start on.
      const { filter, products } = await startSaturated({
        negativeCache: true,
        rebuild: { drainMs: 60_000, onBoot: 'never' },
      });
      const before = [products.share('new'), products.share('other')];
      await Promise.resolve();
      await filter.add('new');
      const after = [products.share('new'), products.share('new'), products.share('other')];
      await Promise.all([...before, ...after]);
      expect(products.calls).toBe(4);
    });

    it('shares a failure too, and forgets it', async () => {
      const { products } = await startSaturated();
      const outcomes = await Promise.allSettled([products.share('broken'), products.share('broken')]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(products.calls).toBe(1);
      await expect(products.share('broken')).rejects.toThrow('The database is down.');
    });

    it('does not share a call without a key', async () => {
      const { products } = await startSaturated();
      await Promise.all([products.share('mug', {}), products.share('mug', {})]);
      expect(products.calls).toBe(2);
    });
  });
});
