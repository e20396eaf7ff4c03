import { Inject, Injectable, Logger, Scope, ServiceUnavailableException, SetMetadata } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { BloomConfigError, type BloomEvent } from '../../src/common/index.js';
import { BloomGuarded, type BloomGuardDefaults } from '../../src/guard/index.js';
import { BloomService } from '../../src/service/index.js';
import { startContext, testBloom } from './support/test-app.js';
import { TestFilter } from './support/test-filter.js';

let products: TestFilter;
let events: BloomEvent[];
let context: TestingModule | undefined;

beforeEach(() => {
  products = new TestFilter('products', ['A-1', 7, 'B 2/ü']);
  events = [];
});

afterEach(async () => {
  await context?.close();
  context = undefined;
  jest.restoreAllMocks();
});

type Providers = NonNullable<Parameters<typeof startContext>[0]['providers']>;

async function start(providers: Providers, defaults?: BloomGuardDefaults): Promise<TestingModule> {
  context = await startContext({
    imports: [testBloom({ filters: [products], events, defaults })],
    providers,
  });
  return context;
}

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
      async byProperty(query: { sku?: unknown } | undefined) {
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
      async pass(_sku: unknown) {
        return 'called';
      }

      @BloomGuarded('products', { onUnknown: 'unavailable' })
      async unavailable(_sku: unknown) {
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

    it('counts a value that is no id as unknown, and tells it', async () => {
      const repository = (await start([Repository])).get(Repository);
      for (const value of [undefined, null, '', {}, Number.NaN]) {
        expect(await repository.pass(value)).toBe('called');
        await expect(repository.unavailable(value)).rejects.toThrow(ServiceUnavailableException);
      }
      expect(products.events).toHaveLength(10);
    });
  });

  it('counts an id function that throws as unknown, and tells it', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products', { id: (query: { key: { sku: string } }) => query.key.sku })
      async find(_query: unknown) {
        return 'called';
      }
    }
    const repository = (await start([Repository])).get(Repository);
    expect(await repository.find({})).toBe('called');
    expect(events).toEqual([{ type: 'invalid-id', filter: 'products', error: expect.any(TypeError) }]);
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
    const module = await start([Repository], { onAbsent: () => 'default', onUnknown: 'unavailable' });
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
    context = await startContext({
      imports: [testBloom({ filters: [products, tenants] })],
      providers: [Repository],
    });
    const repository = context.get(Repository);
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

describe('@BloomGuarded and how Nest makes objects', () => {
  it('guards request-scoped and transient providers', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @BloomGuarded('products')
      async find(_sku: string) {
        return this;
      }
    }
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      @BloomGuarded('products')
      async find(_sku: string) {
        return this;
      }
    }
    const module = await start([PerRequest, Transient]);
    const first = await module.resolve(PerRequest, ContextIdFactory.create());
    const second = await module.resolve(PerRequest, ContextIdFactory.create());
    const transient = await module.resolve(Transient);
    expect(first).not.toBe(second);
    for (const object of [first, second, transient]) {
      expect(await object.find('x')).toBeNull();
      expect(await object.find('A-1')).toBe(object);
    }
  });

  it('guards what a child inherits, once, also beside @Inject properties of its own', async () => {
    @Injectable()
    class Parent {
      @BloomGuarded('products')
      async find(_sku: string) {
        return 'found';
      }
    }
    @Injectable()
    class Child extends Parent {
      @Inject('LABEL') readonly label!: string;

      @BloomGuarded('products')
      async labelOf(_sku: string) {
        return this.label;
      }
    }
    @Injectable()
    class Sibling extends Parent {
      @Inject('LABEL') readonly label!: string;
    }
    const module = await start([Parent, Child, Sibling, { provide: 'LABEL', useValue: 'label' }]);
    for (const object of [module.get(Parent), module.get(Child), module.get(Sibling)]) {
      products.checked.length = 0;
      expect(await object.find('x')).toBeNull();
      expect(await object.find('A-1')).toBe('found');
      expect(products.checked).toEqual(['x', 'A-1']);
    }
    expect(await module.get(Child).labelOf('x')).toBeNull();
    expect(await module.get(Child).labelOf('A-1')).toBe('label');
    expect(module.get(Sibling).label).toBe('label');
  });

  it('has one injection for a class, however many methods and parents are guarded', () => {
    class Parent {
      @BloomGuarded('products')
      async one(_sku: string) {}
      @BloomGuarded('products')
      async two(_sku: string) {}
    }
    class Child extends Parent {
      @BloomGuarded('products')
      async three(_sku: string) {}
    }
    expect(Reflect.getMetadata('self:properties_metadata', Parent)).toHaveLength(1);
    expect(Reflect.getMetadata('self:properties_metadata', Child)).toHaveLength(1);
  });

  it('leaves an override without super call unguarded, and guards one that calls super', async () => {
    @Injectable()
    class Parent {
      @BloomGuarded('products')
      async find(_sku: string): Promise<string | null> {
        return 'found';
      }
    }
    @Injectable()
    class Replacing extends Parent {
      override async find(_sku: string) {
        return 'replaced';
      }
    }
    @Injectable()
    class Extending extends Parent {
      override async find(sku: string) {
        return `(${await super.find(sku)})`;
      }
    }
    const module = await start([Replacing, Extending]);
    expect(await module.get(Replacing).find('x')).toBe('replaced');
    expect(products.checked).toEqual([]);
    expect(await module.get(Extending).find('x')).toBe('(null)');
    expect(await module.get(Extending).find('A-1')).toBe('(found)');
    expect(products.checked).toEqual(['x', 'A-1']);
  });

  it('guards a guarded override of a plain method', async () => {
    @Injectable()
    class Parent {
      async find(_sku: string) {
        return 'found';
      }
    }
    @Injectable()
    class Child extends Parent {
      @BloomGuarded('products')
      override async find(sku: string) {
        return super.find(sku);
      }
    }
    const module = await start([Parent, Child]);
    expect(await module.get(Parent).find('x')).toBe('found');
    expect(await module.get(Child).find('x')).toBeNull();
  });

  it('guards an aliased provider once', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(_sku: string) {
        return 'found';
      }
    }
    const module = await start([Repository, { provide: 'ALIAS', useExisting: Repository }]);
    expect(await module.get<Repository>('ALIAS').find('A-1')).toBe('found');
    expect(products.checked).toEqual(['A-1']);
  });

  it('asks the filter of its own application where two run in one process', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(_sku: string) {
        return 'found';
      }
    }
    const other = await startContext({
      imports: [testBloom({ filters: [new TestFilter('products', ['other'])] })],
      providers: [Repository],
    });
    const mine = (await start([Repository])).get(Repository);
    const theirs = other.get(Repository);
    expect([await mine.find('A-1'), await mine.find('other')]).toEqual(['found', null]);
    expect([await theirs.find('A-1'), await theirs.find('other')]).toEqual([null, 'found']);
    await other.close();
  });

  it('lets objects pass that a factory made, with one warning for their class', async () => {
    class Repository {
      @BloomGuarded('products')
      async find(_sku: string) {
        return 'found';
      }

      @BloomGuarded('products')
      async page(_sku: string) {
        return 'page';
      }
    }
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const module = await start([
      { provide: 'FACTORY', useFactory: () => new Repository() },
      { provide: 'VALUE', useValue: new Repository() },
    ]);
    const detached = new Repository().find;
    expect(await module.get<Repository>('FACTORY').find('x')).toBe('found');
    expect(await module.get<Repository>('FACTORY').page('x')).toBe('page');
    expect(await module.get<Repository>('VALUE').find('x')).toBe('found');
    expect(await detached('x')).toBe('found');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toBe(
      'Repository.find runs unguarded: this Repository was not constructed by Nest. Provide the class itself instead of a ' +
        "factory or a value, or ask the filter 'products' in the method (@InjectBloomFilter, mightContain).",
    );
  });

  it('says which module is missing when the runner cannot be injected', async () => {
    @Injectable()
    class Repository {
      @BloomGuarded('products')
      async find(_sku: string) {}
    }
    await expect(startContext({ providers: [Repository] })).rejects.toThrow(/BloomModule\.forRoot\(\)/);
  });

  it('refuses a static method', () => {
    expect(() => {
      class Repository {
        @BloomGuarded('products')
        static async find(_sku: string) {}
      }
      return Repository;
    }).toThrow(
      new BloomConfigError(
        "Expected @BloomGuarded('products') on an instance method, got Repository.find, which is none. Put it on a method " +
          'of an object that Nest makes.',
      ),
    );
    expect(Reflect.hasOwnMetadata('self:properties_metadata', Function)).toBe(false);
  });
});
