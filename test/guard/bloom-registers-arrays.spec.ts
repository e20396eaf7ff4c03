import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomIdError } from '../../src/common/index.js';
import { BloomRegisters, type BloomRegistersOptions } from '../../src/guard/index.js';
import { GuardedProviders } from './support/guarded-providers.js';
import type { TestFilter } from './support/test-filter.js';

describe('@BloomRegisters and arrays', () => {
  let app: GuardedProviders;
  let products: TestFilter;
  let calls: number;

  beforeEach(() => {
    app = new GuardedProviders();
    ({ products } = app);
    calls = 0;
  });

  afterEach(() => app.close());

  /** What a method with these options does with this argument, and what it then returns. */
  async function create(options: BloomRegistersOptions, argument: unknown, result = argument) {
    @Injectable()
    class Repository {
      @BloomRegisters('products', options)
      async create(_argument: unknown) {
        calls++;
        return result;
      }
    }
    return (await app.start([Repository])).get(Repository).create(argument);
  }

  const texts = Array.from({ length: 12_000 }, (_, i) => `text-${i}`);

  it.each<[string, BloomRegistersOptions, unknown]>([
    ['the argument', {}, texts],
    ['a property', { id: 'sku' }, { sku: texts }],
    ['an empty one', { id: 'sku' }, { sku: [] }],
    ['the argument, queued on errors', { onError: 'queue' }, texts],
  ])(
    'refuses an array where one id was meant, and records nothing: %s',
    async (_place, options, argument) => {
      await expect(create(options, argument)).rejects.toThrow(BloomIdError);
      expect(products.addCalls).toEqual([]);
      expect(calls).toBe(0);
    },
  );

  it('records every id of rows that exist, also where one value is none, and rejects all the same', async () => {
    const id = (rows: { sku: string }[]) => rows.map(({ sku }) => sku);
    const rows = ['a', null, 'b', ['c'], 'x'.repeat(2000), 'd'].map((sku) => ({ sku }));
    await expect(create({ from: 'result', id }, rows)).rejects.toThrow(BloomIdError);
    expect(calls).toBe(1);
    expect(await products.checkMany(['a', 'b', 'd'])).toEqual(['maybe', 'maybe', 'maybe']);
  });

  it.each<[string, (ids: string[]) => unknown]>([
    ['1,001 ids', () => Array.from({ length: 1001 }, (_, i) => `id-${i}`)],
    ['a set', (ids) => new Set(ids)],
    ['an iterator', (ids) => ids.values()],
    ['a nested array', (ids) => [ids]],
    ['something that is no id among others', (ids) => [{}, ...ids]],
  ])('refuses %s that the function returns, before anything is recorded', async (_given, id) => {
    await expect(create({ id: id as (ids: string[]) => string[] }, ['a', 'b'])).rejects.toThrow(BloomIdError);
    expect(await products.checkMany(['a', 'b'])).toEqual(['absent', 'absent']);
    expect(calls).toBe(0);
  });

  it('refuses a promise that the function returns, as a mistake of the application', async () => {
    const id = (async (ids: string[]) => ids) as unknown as (ids: string[]) => string[];
    await expect(create({ id }, ['a', 'b'])).rejects.toThrow(
      /Expected the option id to return its answer at once/,
    );
    expect(await products.checkMany(['a', 'b'])).toEqual(['absent', 'absent']);
    expect(calls).toBe(0);
  });

  it('says where the array was, and what to do', async () => {
    await expect(create({ id: 'sku' }, { sku: ['a', 'b'] })).rejects.toThrow(
      "Expected one id in 'sku', got an array of 2. Where a call creates several rows, give the option id a function that " +
        'returns their ids.',
    );
  });

  it.each<[string, BloomRegistersOptions]>([
    ['the result', { from: 'result' }],
    ['a property of it', { from: 'result', id: 'sku' }],
  ])('refuses an array in the result that no function has read: %s', async (_place, options) => {
    await expect(create(options, 'x', options.id ? { sku: texts } : texts)).rejects.toThrow(BloomIdError);
    expect(products.addCalls).toEqual([]);
  });

  it('takes several ids from a function, up to 1,000 of one call', async () => {
    const options = { id: (ids: string[]) => ids };
    await create(options, texts.slice(0, 1000));
    expect(products.addCalls.map(({ length }) => length)).toEqual([1000]);
    await app.close();
    app = new GuardedProviders();
    ({ products } = app);
    await expect(create(options, texts.slice(0, 1001))).rejects.toThrow(
      'Expected at most 1,000 ids of one call, got 1,001. Create the rows in smaller parts, or raise the option maxIds.',
    );
    expect(products.addCalls).toEqual([]);
    expect(calls).toBe(1);
  });

  it('takes as many as maxIds says', async () => {
    await expect(create({ id: (ids: string[]) => ids, maxIds: 2 }, ['a', 'b', 'c'])).rejects.toThrow(
      'at most 2',
    );
    expect(calls).toBe(0);
  });

  it('records all ids that a function reads from the result: their rows exist', async () => {
    await create({ from: 'result', id: (rows: string[]) => rows, maxIds: 2 }, 'x', ['a', 'b', 'c']);
    expect(products.addCalls).toEqual([['a', 'b', 'c']]);
  });

  it.each([0, -1, 1.5, Number.NaN, '10', null])('refuses maxIds of %p at the declaration', async (maxIds) => {
    await expect(create({ maxIds: maxIds as number }, 'a')).rejects.toThrow(BloomConfigError);
  });
});
