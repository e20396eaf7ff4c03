import { Body, Controller, Get, Injectable, Logger, Param, Post } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BloomConfigError, BloomIdError, BloomUnavailableError } from '../../src/common/index.js';
import type { BloomId } from '../../src/filter/index.js';
import { BloomGuarded, BloomRegisters } from '../../src/guard/index.js';
import { BloomTestingModule } from '../../src/testing/index.js';
import { PLATFORMS, startApp, startContext } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { testBloom } from './support/test-bloom.js';
import type { TestFilter } from './support/test-filter.js';

const down = new BloomUnavailableError('The store is down.');

let app: GuardedProviders;
let products: TestFilter;
const known = (id: BloomId) => products.mightContain(id);
const start: GuardedProviders['start'] = (...args) => app.start(...args);

beforeEach(() => {
  app = new GuardedProviders();
  ({ products } = app);
});

afterEach(() => app.close());

describe("@BloomRegisters from 'argument'", () => {
  it('has added the id before the method runs: the argument, a property of it, or what a function returns', async () => {
    @Injectable()
    class Repository {
      readonly prefix = 'A-';

      @BloomRegisters('products')
      async byArgument(sku: string) {
        return known(sku);
      }

      @BloomRegisters('products', { id: 'sku' })
      async byProperty(product: { sku: string }) {
        return known(product.sku);
      }

      @BloomRegisters('products', {
        id(this: Repository, _tenant: string, number: number) {
          return this.prefix + number;
        },
      })
      async byFunction(_tenant: string, _number: number) {
        return known('A-3');
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.byArgument('A-1')).toBe(true);
    expect(await repository.byProperty({ sku: 'A-2' })).toBe(true);
    expect(await repository.byFunction('t', 3)).toBe(true);
    expect(products.addCalls).toEqual([['A-1'], ['A-2'], ['A-3']]);
  });

  it('adds several ids at once, and none for an empty array', async () => {
    @Injectable()
    class Repository {
      @BloomRegisters('products', { id: (rows: { sku: string }[]) => rows.map(({ sku }) => sku) })
      async createMany(rows: { sku: string }[]) {
        return rows.length;
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.createMany([{ sku: 'a' }, { sku: 'b' }])).toBe(2);
    expect(await repository.createMany([])).toBe(0);
    expect(products.addCalls).toEqual([['a', 'b']]);
  });

  it('rejects without calling the method when the id cannot be recorded', async () => {
    let calls = 0;
    @Injectable()
    class Repository {
      @BloomRegisters('products', { id: 'sku' })
      async create(_product: { sku?: string }) {
        calls++;
      }
    }
    const repository = (await start([Repository])).get(Repository);
    products.addError = down;
    await expect(repository.create({ sku: 'a' })).rejects.toBe(down);
    products.addError = undefined;
    await expect(repository.create({})).rejects.toThrow(
      /^@BloomRegisters\('products'\) on Repository.create: Expected an id .* got undefined/,
    );
    await expect(repository.create({})).rejects.toThrow(BloomIdError);
    expect(calls).toBe(0);
  });

  it('passes errors of the method and of the id function unchanged', async () => {
    const failure = new Error('unique key');
    @Injectable()
    class Repository {
      @BloomRegisters('products')
      async create(_sku: string) {
        throw failure;
      }

      @BloomRegisters('products', {
        id: () => {
          throw failure;
        },
      })
      async unreadable(_sku: string) {}
    }
    const repository = (await start([Repository])).get(Repository);
    await expect(repository.create('a')).rejects.toBe(failure);
    await expect(repository.unreadable('a')).rejects.toBe(failure);
    expect(await known('a')).toBe(true);
  });
});

describe("@BloomRegisters from 'result'", () => {
  it('has added the id when the caller gets the result: the result, a property of it, or what a function returns', async () => {
    @Injectable()
    class Repository {
      @BloomRegisters('products', { from: 'result' })
      async byResult(sku: string) {
        return { sku: await known(sku) }.sku ? 'known before' : sku;
      }

      @BloomRegisters('products', { from: 'result', id: 'id' })
      async byProperty(name: string) {
        return { id: 17, name };
      }

      @BloomRegisters('products', {
        from: 'result',
        id: (rows: number[], tenant: string) => rows.map((row) => `${tenant}/${row}`),
      })
      async byFunction(_tenant: string) {
        return [1, 2];
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.byResult('A-1')).toBe('A-1');
    expect(await known('A-1')).toBe(true);
    expect(await repository.byProperty('x')).toEqual({ id: 17, name: 'x' });
    expect(await known(17)).toBe(true);
    expect(await repository.byFunction('t')).toEqual([1, 2]);
    expect(products.addCalls).toEqual([['A-1'], ['17'], ['t/1', 't/2']]);
  });

  it('rejects when the id cannot be recorded, and adds nothing for a method that failed', async () => {
    let rows = 0;
    @Injectable()
    class Repository {
      @BloomRegisters('products', { from: 'result', id: 'id' })
      async create(fails: boolean) {
        if (fails) throw new RangeError('unique key');
        return { id: ++rows };
      }
    }
    const repository = (await start([Repository])).get(Repository);
    await expect(repository.create(true)).rejects.toThrow(RangeError);
    expect(products.addCalls).toEqual([]);
    products.addError = down;
    await expect(repository.create(false)).rejects.toBe(down);
    expect(rows).toBe(1);
  });
});

describe('@BloomRegisters', () => {
  it('runs on an object that Nest did not construct, with one warning, unless an application would deny what it creates', async () => {
    const calls: string[] = [];
    class Repository {
      @BloomGuarded('products')
      async find(sku: string) {
        calls.push(`find ${sku}`);
      }
      @BloomRegisters('products')
      async create(sku: string) {
        calls.push(`create ${sku}`);
      }
    }
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    await new Repository().create('a');
    await new Repository().find('b');
    expect(calls).toEqual(['create a', 'find b']);
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining(
          'Repository.create runs unguarded: this Repository was not constructed by Nest',
        ),
      ],
    ]);
    warn.mockRestore();

    const ofTest = await startContext({ imports: [BloomTestingModule.of({ products: [] })] });
    await new Repository().create('c');
    await ofTest.close();

    const app = await startContext({ imports: [testBloom({ filters: [products] })] });
    const refused = new Repository().create('d');
    await expect(refused).rejects.toThrow(BloomConfigError);
    await expect(refused).rejects.toThrow(
      "Repository.create cannot record ids in filter 'products': its object was not constructed by Nest",
    );
    await app.close();
    await new Repository().create('e');
    expect(calls.slice(2)).toEqual(['create c', 'create e']);
  });

  it.each(PLATFORMS)('records in a route of %s what the next request finds', async (platform) => {
    @Controller('products')
    class ProductController {
      private readonly rows = new Map<string, object>();

      @Post()
      @BloomRegisters('products', { id: 'sku' })
      async create(@Body() product: { sku: string }) {
        this.rows.set(product.sku, product);
        return product;
      }

      @Get(':sku')
      @BloomGuarded('products')
      async find(@Param('sku') sku: string) {
        return this.rows.get(sku);
      }
    }
    const route = await startApp(platform, {
      imports: [testBloom({ filters: [products] })],
      controllers: [ProductController],
    });
    expect((await route.get('/products/A-9')).status).toBe(404);
    const created = await route.get('/products', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"sku":"A-9"}',
    });
    expect(created.status).toBe(201);
    expect(await route.get('/products/A-9')).toEqual({ status: 200, body: { sku: 'A-9' } });
    await route.close();
  });
});
