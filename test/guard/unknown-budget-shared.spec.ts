import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BloomGuarded } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { giveBudget, HeldCalls } from './support/budgeted-filter.js';
import { GuardedProviders } from './support/guarded-providers.js';

let calls: HeldCalls;

@Injectable()
class Products {
  @BloomGuarded('products')
  async find(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }

  @BloomGuarded('products', { coalesce: { key: () => '' } })
  async findShared(sku: string): Promise<unknown> {
    return calls.hold(sku);
  }
}

const overload = expect.objectContaining({ code: 'BLOOM_OVERLOAD', filter: 'products' });
const settled = () => new Promise(setImmediate);

/** No call is joined that began before the first one that may be. */
async function warmUp(products: Products): Promise<void> {
  const first = products.findShared('warm-up');
  await eventually('the method runs', () => calls.held.length === 1);
  calls.endAll(null);
  await first;
  await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('Calls that the filter cannot judge and that may join others', () => {
  let app: GuardedProviders;
  let products: Products;
  beforeEach(async () => {
    calls = new HeldCalls();
    app = new GuardedProviders(['A-1']);
    products = (await app.start([Products])).get(Products);
    app.products.verdict = 'unknown';
  });
  afterEach(async () => {
    calls.endAll();
    await app.close();
  });

  it('are refused alone: no refusal is shared', async () => {
    giveBudget(app.products, { concurrent: 1, queue: 0 });
    const first = products.findShared('a');
    await eventually('the method runs', () => calls.held.length === 1);
    await expect(products.findShared('b')).rejects.toEqual(overload);
    calls.endAll('row');
    expect(await first).toBe('row');
    const second = products.findShared('b');
    await eventually('the method runs', () => calls.held.length === 1);
    calls.endAll('other row');
    expect(await second).toBe('other row');
  });

  it('take one place for each method run, and none for those who join it', async () => {
    await warmUp(products);
    const budget = giveBudget(app.products, { concurrent: 1, queue: 1, waitMs: 60_000 });
    const holder = products.find('holder');
    await eventually('the method runs', () => calls.held.length === 1);
    const waiting = products.findShared('a');
    await eventually('it waits', () => budget.metrics().waiting === 1);
    calls.held.shift()!.end(null);
    expect(await holder).toBeNull();
    await eventually('it runs', () => calls.ids.includes('a'));
    const joined = [products.findShared('a'), products.findShared('a')];
    await settled();
    expect(budget.metrics()).toMatchObject({ running: 1, waiting: 0, passed: 2 });
    calls.endAll('row');
    expect(await Promise.all([waiting, ...joined])).toEqual(['row', 'row', 'row']);
    expect(budget.metrics()).toMatchObject({ running: 0, passed: 2, refused: 0 });
  });

  it('join a call that has begun while they waited, and give their places to others', async () => {
    await warmUp(products);
    const budget = giveBudget(app.products, { concurrent: 2, queue: 2, waitMs: 60_000 });
    const holders = [products.find('one'), products.find('two')];
    await eventually('the methods run', () => calls.held.length === 2);
    const shared = [products.findShared('a'), products.findShared('a')];
    await eventually('they wait', () => budget.metrics().waiting === 2);
    for (const call of calls.held.splice(0)) call.end(null);
    await Promise.all(holders);
    await eventually('one of them runs', () => calls.held.length > 0);
    await settled();
    expect([calls.ids, budget.metrics().running]).toEqual([['a'], 1]);
    calls.endAll('row');
    expect(await Promise.all(shared)).toEqual(['row', 'row']);
  });

  it('tell the load of judged methods once, not of those who join them', async () => {
    await warmUp(products);
    const { load } = giveBudget(app.products, { concurrent: 1 });
    const begun = jest.spyOn(load, 'begin');
    app.products.verdict = 'maybe';
    const shared = [products.findShared('a'), products.findShared('a'), products.findShared('a')];
    await eventually('one of them runs', () => calls.held.length > 0);
    await settled();
    calls.endAll('row');
    await Promise.all(shared);
    expect(begun).toHaveBeenCalledTimes(1);
  });
});
