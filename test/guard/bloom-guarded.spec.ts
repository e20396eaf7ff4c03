import { Injectable, ServiceUnavailableException, SetMetadata } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BloomEvent } from '../../src/common/index.js';
import { BloomGuarded } from '../../src/guard/index.js';
import { BloomService } from '../../src/service/index.js';
import type { Anything } from './support/anything.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { TestFilter } from './support/test-filter.js';

let app: GuardedProviders;
let products: TestFilter;
let events: BloomEvent[];
const start: GuardedProviders['start'] = (...args) => app.start(...args);

beforeEach(() => {
  app = new GuardedProviders(['A-1', 7, 'B 2/ü']);
  ({ products, events } = app);
});

afterEach(() => app.close());

describe('@BloomGuarded on a provider', () => {
  it('resolves null for an absent id without calling the method, and calls it otherwise', async () => {
    const calls: string[] = [];
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(sku: string) {
        calls.push(sku);
        return { sku };
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.find('A-1')).toEqual({ sku: 'A-1' });
    expect(await repository.find('nope')).toBeNull();
    expect(calls).toEqual(['A-1']);
    expect(products.checked).toEqual(['A-1', 'nope']);
  });

  it('takes the id from a property of the first argument, or from a function of all with the instance as this', async () => {
    @Injectable()
    class Repository {
      private readonly prefix = 'A-';

      @BloomGuarded('products', { id: 'sku' })
      async byProperty(query: { sku?: Anything } | undefined) {
        return query ? 'called' : 'called without';
      }

      @BloomGuarded('products', {
        id(this: Repository, _tenant: string, number: number) {
          return this.prefix + number;
        },
      })
      async byFunction(_tenant: string, _number: number) {
        return 'called';
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.byProperty({ sku: 'A-1' })).toBe('called');
    expect(await repository.byProperty({ sku: 'A-2' })).toBeNull();
    expect(await repository.byFunction('t', 1)).toBe('called');
    expect(await repository.byFunction('t', 2)).toBeNull();
    expect(await repository.byProperty(undefined)).toBe('called without');
  });

  it('answers an absent id with onAbsent: its value, its promise or its error, called as the method would be', async () => {
    @Injectable()
    class Repository {
      readonly label = 'none of';

      @BloomGuarded('products', {
        onAbsent(this: Repository, sku: string, page: number) {
          return `${this.label} ${sku} ${page}`;
        },
      })
      async value(_sku: string, _page: number) {
        return 'called';
      }

      @BloomGuarded('products', { onAbsent: async () => [] })
      async promise(_sku: string) {
        return ['called'];
      }

      @BloomGuarded('products', {
        onAbsent: () => {
          throw new RangeError('gone');
        },
      })
      async error(_sku: string) {
        return 'called';
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.value('x', 3)).toBe('none of x 3');
    expect(await repository.promise('x')).toEqual([]);
    await expect(repository.error('x')).rejects.toThrow(RangeError);
  });

  describe('when the filter answers unknown', () => {
    @Injectable()
    class Repository {
      readonly label = 'unknown';

      @BloomGuarded('products')
      async pass(_sku: Anything) {
        return 'called';
      }

      @BloomGuarded('products', { onUnknown: 'unavailable' })
      async unavailable(_sku: Anything) {
        return 'called';
      }

      @BloomGuarded('products', {
        onUnknown(this: Repository, sku: string) {
          return `${this.label} ${sku}`;
        },
      })
      async answer(_sku: string) {
        return 'called';
      }
    }

    it('passes, throws ServiceUnavailableException or answers, as onUnknown says', async () => {
      const repository = (await start([Repository])).get(Repository);
      products.verdict = 'unknown';
      expect(await repository.pass('x')).toBe('called');
      await expect(repository.unavailable('x')).rejects.toThrow(ServiceUnavailableException);
      expect(await repository.answer('x')).toBe('unknown x');
    });

    it('does the same with a value that is no id, and reports it', async () => {
      const repository = (await start([Repository])).get(Repository);
      for (const value of [undefined, null, '', {}, Number.NaN]) {
        expect(await repository.pass(value)).toBe('called');
        await expect(repository.unavailable(value)).rejects.toThrow(ServiceUnavailableException);
      }
      expect(events.filter(({ type }) => type === 'invalid-id')).toHaveLength(10);
    });
  });

  it('counts an id function that throws as unknown, and tells it', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products', { id: (query: { key: { sku: string } }) => query.key.sku })
      async find(_query: Anything) {
        return 'called';
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.find({})).toBe('called');
    expect(events).toEqual([
      expect.objectContaining({ type: 'advice' }),
      { type: 'invalid-id', filter: 'products', error: expect.any(TypeError), method: 'Repository.find' },
    ]);
    expect(products.checked).toEqual([]);
  });

  it('takes onAbsent and onUnknown of the application where the decorator says nothing', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(_sku: string) {
        return 'called';
      }

      @BloomGuarded('products', { onAbsent: () => 'own', onUnknown: 'pass' })
      async own(_sku: string) {
        return 'called';
      }
    }
    const module = await start([Repository], {
      defaults: { onAbsent: () => 'default', onUnknown: 'unavailable' },
    });
    const repository = module.get(Repository);
    expect(await repository.find('x')).toBe('default');
    expect(await repository.own('x')).toBe('own');
    products.verdict = 'unknown';
    await expect(repository.find('x')).rejects.toThrow(ServiceUnavailableException);
    expect(await repository.own('x')).toBe('called');
  });

  it('passes with an event when the filter is not registered in this application', async () => {
    @Injectable()
    class LateRepository {
      @BloomGuarded('late', { onUnknown: 'unavailable' })
      async find(_sku: string) {
        return 'called';
      }
    }
    const module = await start([]);
    const repository = await module.get(ModuleRef).create(LateRepository);
    expect(await repository.find('x')).toBe('called');
    expect(events).toEqual([{ type: 'filter-missing', filter: 'late', method: 'LateRepository.find' }]);
    module.get(BloomService).register(new TestFilter('late'));
    expect(await repository.find('x')).toBeNull();
  });

  it('passes errors of the method unchanged, thrown or rejected', async () => {
    const failure = new Error('database');
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async rejected(_sku: string) {
        throw failure;
      }

      @BloomGuarded('products')
      thrown(_sku: string): Promise<void> {
        throw failure;
      }
    }
    const repository = (await start([Repository])).get(Repository);
    await expect(repository.rejected('A-1')).rejects.toBe(failure);
    await expect(repository.thrown('A-1')).rejects.toBe(failure);
  });

  it('keeps this with private fields, name, length and metadata, and lets decorators above set theirs', async () => {
    const Below = SetMetadata('below', 'b');
    const Above = SetMetadata('above', 'a');
    const marked =
      (mark: string): MethodDecorator =>
      (_target, _key, descriptor) => {
        Object.assign(descriptor.value as object, { [mark]: true });
      };
    @Injectable()
    class Repository {
      #rows = new Map([['A-1', 'row']]);

      @Above
      @marked('own')
      @BloomGuarded('products')
      @marked('inner')
      @Below
      async find(sku: string, _page: number) {
        return this.#rows.get(sku);
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.find('A-1', 1)).toBe('row');
    const method = Repository.prototype.find;
    expect(method.name).toBe('find');
    expect(method.length).toBe(2);
    expect(Reflect.getOwnMetadata('below', method)).toBe('b');
    expect(Reflect.getOwnMetadata('above', method)).toBe('a');
    expect({ ...method }).toMatchObject({ own: true, inner: true });
    expect(Object.getOwnPropertyDescriptor(Repository.prototype, 'find')).toMatchObject({
      writable: true,
      configurable: true,
    });
  });

  it('checks with two filters where two guards stand on one method', async () => {
    const tenants = new TestFilter('tenants', ['t1']);
    @Injectable()
    class Repository {
      @BloomGuarded('tenants', { onAbsent: () => 'no tenant' })
      @BloomGuarded('products', { id: (_tenant: string, sku: string) => sku })
      async find(_tenant: string, _sku: string) {
        return 'called';
      }
    }
    const repository = (await start([Repository], { others: [tenants] })).get(Repository);
    expect(await repository.find('t1', 'A-1')).toBe('called');
    expect(await repository.find('t1', 'x')).toBeNull();
    expect(await repository.find('t2', 'A-1')).toBe('no tenant');
  });

  it('keeps concurrent calls apart', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(sku: string | number) {
        await new Promise(setImmediate);
        return sku;
      }
    }
    const repository = (await start([Repository])).get(Repository);
    const ids = Array.from({ length: 300 }, (_, i) => (i % 3 ? `none-${i}` : i % 2 ? 7 : 'A-1'));
    const answers = await Promise.all(ids.map((id) => repository.find(id)));
    expect(answers).toEqual(ids.map((id) => (String(id).startsWith('none') ? null : id)));
  });
});
