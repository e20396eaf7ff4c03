import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import {
  type BloomFilter,
  type BloomFilterOptions,
  BloomGuarded,
  BloomGuardedMany,
  BloomModule,
  BloomService,
} from 'nestjs-bloom';
import { eventually } from '../support/eventually.js';
import { GAP, GrowingTable } from '../support/growing-table.js';
import { startContext } from '../support/nest-app.js';

const table = { current: new GrowingTable(), queries: 0, held: undefined as Promise<void> | undefined };

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(id: number): Promise<number | null> {
    table.queries++;
    const found = table.current.ids.includes(id) ? id : null;
    await table.held;
    return found;
  }

  @BloomGuarded('products', { coalesce: { key: () => '' } })
  async findShared(id: number): Promise<number | null> {
    return this.read(id);
  }

  @BloomGuardedMany('products', { key: (id) => id })
  async findMany(ids: number[]): Promise<(number | null)[]> {
    return ids.filter((id) => table.current.ids.includes(id));
  }

  private async read(id: number): Promise<number | null> {
    table.queries++;
    const found = table.current.ids.includes(id) ? id : null;
    await table.held;
    return found;
  }
}

describe('An id beyond the mark', () => {
  let module: TestingModule;
  let filter: BloomFilter;
  let products: Products;
  beforeEach(() => {
    Object.assign(table, { current: new GrowingTable(), queries: 0, held: undefined });
    table.current.fill(100);
  });
  afterEach(() => module.close());

  async function start(options: Partial<BloomFilterOptions> = {}): Promise<void> {
    module = await startContext({
      imports: [
        BloomModule.forRoot({}),
        BloomModule.forFeature([
          {
            name: 'products',
            capacity: 100,
            // No id passes by chance where a test does not ask for one.
            errorRate: 1e-6,
            source: table.current.source(),
            rebuild: { drainMs: 0 },
            audit: false,
            topUp: { everyMs: 20, overlapMs: 20 },
            ...options,
          },
        ]),
      ],
      providers: [Products],
    });
    filter = module.get(BloomService).filter('products');
    products = module.get(Products);
    const place = String(table.current.place);
    await eventually('there is a mark', async () => (await filter.info()).outside?.mark === place);
    // From here on nothing is read: what comes is beyond the mark.
    table.current.fails = true;
  }

  /** An id that the filter lets through by chance; none of those that a test names itself. */
  async function falsePositive(): Promise<number> {
    for (let id = 10_000; ; id++) if ((await filter.check(id)) === 'maybe') return id;
  }

  it('is asked of the database, counted by its reason, and found as soon as its row is there', async () => {
    await start();
    const before = module.get(BloomService).metrics()[0]!.lookups.unknown.beyond;
    expect(await products.find(101)).toBeNull();
    table.current.commit(101);
    expect(await products.find(101)).toBe(101);
    expect(await products.findMany([101, 50, 5000])).toEqual([101, 50, null]);
    expect(await products.find(GAP)).toBeNull();
    expect(table.queries).toBe(2);
    const { unknown, absent } = filter.guarding.counts();
    expect({ unknown, absent }).toEqual({ unknown: 4, absent: 1 });
    const [metrics] = module.get(BloomService).metrics();
    expect(metrics!.lookups.unknown).toMatchObject({ beyond: before + 4, error: 0 });
    expect(metrics!.methods[0]!.unknown.beyond).toBe(2);
  });

  it('is not denied by the negative cache', async () => {
    await start({ errorRate: 0.3, negativeCache: { lifeMs: 60_000 } });
    const id = await falsePositive();
    expect(await products.find(id)).toBeNull();
    table.current.commit(id);
    expect(await products.find(id)).toBe(id);
    expect(filter.guarding.counts().remembered).toBe(0);
  });

  it('is not answered by the call of somebody who asked before', async () => {
    await start({ errorRate: 0.3 });
    for (const id of [200, await falsePositive()]) {
      let free = () => {};
      table.held = new Promise((resolve) => (free = resolve));
      const before = products.findShared(id);
      await eventually('the row is read', () => table.queries > 0);
      table.current.commit(id);
      const after = products.findShared(id);
      free();
      expect(await before).toBeNull();
      expect(await after).toBe(id);
      table.queries = 0;
    }
  });

  it('is no wrong absent in shadow mode', async () => {
    await start({ shadow: true });
    table.current.commit(101);
    expect(await products.find(101)).toBe(101);
    expect(filter.guarding.counts()).toMatchObject({ absent: 0, unknown: 1, wrongAbsents: 0 });
  });
});
