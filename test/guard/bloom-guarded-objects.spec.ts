import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BloomConfigError, helpOn } from '../../src/common/index.js';
import { BloomGuarded } from '../../src/guard/index.js';
import { startContext } from '../support/nest-app.js';
import { GuardedProviders } from './support/guarded-providers.js';
import { testBloom } from './support/test-bloom.js';
import { TestFilter } from './support/test-filter.js';

let app: GuardedProviders;
let products: TestFilter;
const start: GuardedProviders['start'] = (...args) => app.start(...args);

beforeEach(() => {
  app = new GuardedProviders(['A-1', 7, 'B 2/ü']);
  ({ products } = app);
});

afterEach(async () => {
  jest.restoreAllMocks();
  await app.close();
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
      'BLOOM_NOT_GUARDED: Repository.find runs unguarded: this Repository was not constructed by Nest, so its lookups pass and what it creates is not ' +
        "recorded. Provide the class itself instead of a factory or a value, or ask the filter 'products' in the method " +
        '(@InjectBloomFilter, mightContain, add). ' +
        helpOn('BLOOM_NOT_GUARDED'),
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
        @(BloomGuarded('products') as MethodDecorator)
        static async find(_sku: string) {}
      }
      return Repository;
    }).toThrow(
      new BloomConfigError(
        "Expected @BloomGuarded('products') on an instance method, got Repository.find, which is not one. Put it on a method " +
          'of an object that Nest constructs.',
      ),
    );
    expect(Reflect.hasOwnMetadata('self:properties_metadata', Function)).toBe(false);
  });
});
