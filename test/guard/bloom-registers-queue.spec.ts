import { Injectable } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type BloomEvent, BloomIdError, BloomUnavailableError } from '../../src/common/index.js';
import type { BloomId } from '../../src/filter/index.js';
import { BloomGuarded, BloomRegisters } from '../../src/guard/index.js';
import { eventually } from '../support/eventually.js';
import { GuardedProviders } from './support/guarded-providers.js';
import type { TestFilter } from './support/test-filter.js';

const down = new BloomUnavailableError('The store is down.');

let app: GuardedProviders;
let products: TestFilter;
let events: BloomEvent[];
const known = (id: BloomId) => products.mightContain(id);
const start: GuardedProviders['start'] = (...args) => app.start(...args);

beforeEach(() => {
  app = new GuardedProviders();
  ({ products, events } = app);
});

afterEach(() => app.close());

describe("@BloomRegisters with onError: 'queue'", () => {
  @Injectable()
  class Repository {
    readonly rows = new Set<string>();

    @BloomRegisters('products', { onError: 'queue' })
    async create(sku: string) {
      this.rows.add(sku);
      return sku;
    }

    @BloomGuarded('products')
    async find(sku: string) {
      return this.rows.has(sku);
    }

    @BloomGuarded('products')
    async findBytes(sku: Uint8Array) {
      return this.rows.has(new TextDecoder().decode(sku));
    }
  }

  it('goes on, tells it, and lets guards of this process pass the id until it is recorded', async () => {
    const repository = (await start([Repository])).get(Repository);
    products.addError = down;
    expect(await repository.create('ü-1')).toBe('ü-1');
    expect(events).toEqual([{ type: 'add-queued', filter: 'products', queued: 1, error: down }]);
    expect(await known('ü-1')).toBe(false);
    expect(await repository.find('ü-1')).toBe(true);
    expect(await repository.findBytes(new TextEncoder().encode('ü-1'))).toBe(true);
    expect(await repository.find('ü-2')).toBeNull();
    products.addError = undefined;
    await eventually('it is recorded', () => known('ü-1'));
    expect(await repository.find('ü-1')).toBe(true);
  });

  it('asks the queue before the filter: an id may be recorded and leave the queue while a check is under way', async () => {
    const repository = (await start([Repository])).get(Repository);
    products.addError = down;
    await repository.create('a');
    const check = products.check.bind(products);
    products.check = async (id) => {
      const verdict = await check(id);
      products.addError = undefined;
      while (!(await known('a'))) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 20));
      return verdict;
    };
    products.mightContain = async (id) => (await check(id)) !== 'absent';
    expect(await repository.find('a')).toBe(true);
  });

  it('records the bytes that were given, also when the caller uses them again', async () => {
    @Injectable()
    class ByteRepository {
      @BloomRegisters('products', { onError: 'queue', id: (keys: Uint8Array[]) => keys })
      async create(_keys: Uint8Array[]) {}
    }
    const repository = (await start([ByteRepository])).get(ByteRepository);
    products.addError = down;
    const keys = [new Uint8Array([1, 2])];
    await repository.create(keys);
    keys[0]!.fill(9);
    keys.length = 0;
    products.addError = undefined;
    await app.close();
    expect(await known(new Uint8Array([1, 2]))).toBe(true);
    expect(await known(new Uint8Array([9, 9]))).toBe(false);
  });

  it('rejects a value that is no id', async () => {
    const repository = (await start([Repository])).get(Repository);
    await expect(repository.create('')).rejects.toThrow(BloomIdError);
    products.addError = new BloomIdError('too long');
    await expect(repository.create('long')).rejects.toThrow('too long');
    expect(repository.rows.size).toBe(0);
    expect(events).toEqual([]);
  });

  it('records on shutdown what is left', async () => {
    const repository = (await start([Repository])).get(Repository);
    products.addError = down;
    await repository.create('a');
    products.addError = undefined;
    await app.close();
    expect(await known('a')).toBe(true);
    products.addError = down;
    await expect(repository.create('b')).rejects.toBe(down);
  });
});
