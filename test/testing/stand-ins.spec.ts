import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ConsoleLogger, Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import {
  BloomFilter,
  BloomGuarded,
  BloomModule,
  BloomRegisters,
  BloomService,
  getBloomFilterToken,
  InjectBloomFilter,
} from 'nestjs-bloom';
import { BloomTestingModule } from '../../src/testing/index.js';

const SILENT = new ConsoleLogger({ logLevels: [] });
const quiet = { onEvent: () => {} };

@Injectable()
class Repository {
  readonly calls: unknown[] = [];

  constructor(@InjectBloomFilter('products') readonly products: BloomFilter) {}

  @BloomGuarded('products')
  async find(sku: string | number): Promise<string | null> {
    this.calls.push(sku);
    return `row ${sku}`;
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: { sku: string | number }): Promise<void> {
    this.calls.push(product.sku);
  }
}

@Module({
  imports: [BloomModule.forFeature({ name: 'products', capacity: 10, create: 'first-start', audit: false })],
  providers: [Repository],
})
class CatalogueModule {}

@Module({ imports: [BloomModule.forRoot(quiet), CatalogueModule] })
class AppModule {}

const opened: TestingModule[] = [];
afterEach(async () => {
  for (const module of opened.splice(0)) await module.close();
});

async function compiled(builder: TestingModuleBuilder): Promise<TestingModule> {
  const module = await builder.setLogger(SILENT).compile();
  opened.push(module);
  return module;
}

const app = () => Test.createTestingModule({ imports: [AppModule] });
const tested = (builder: TestingModuleBuilder) => BloomTestingModule.override(builder, 'pass-all');
const token = getBloomFilterToken('products');

describe('a token of a filter that is overridden in an application as it is', () => {
  it('gives what overrides it to whoever injects it; guards ask the filter that is registered', async () => {
    const original = { check: async () => 'maybe', name: 'products' };
    const module = await compiled(app().overrideProvider(token).useValue(original));
    await module.init();
    const repository = module.get(Repository, { strict: false });
    expect(repository.products).toBe(original);
    expect(module.get(token, { strict: false })).toBe(original);
    const registered = module.get(BloomService).filter('products');
    expect(registered).toBeInstanceOf(BloomFilter);
    expect(await repository.find('a')).toBe(null);
    await repository.create({ sku: 'a' });
    expect(await registered.check('a')).toBe('maybe');
    expect(await repository.find('a')).toBe('row a');
  });
});

describe('a filter that a test overrides beside BloomTestingModule', () => {
  it.each([
    ['check', { check: async (id: unknown) => (id === 7 || id === 'a' ? 'maybe' : 'absent') }],
    ['mightContain', { mightContain: async (id: unknown) => id === 7 || id === 'a' }],
    ['has', new Set<unknown>([7, 'a'])],
  ])('is asked by guards: its %s', async (_, original) => {
    const module = await compiled(tested(app()).overrideProvider(token).useValue(original));
    for (const isInitialised of [false, true]) {
      if (isInitialised) await module.init();
      const repository = module.get(Repository, { strict: false });
      expect(repository.products).toBe(original);
      expect(await repository.find('a')).toBe('row a');
      expect(await repository.find(7)).toBe('row 7');
      expect(await repository.find('b')).toBe(null);
      expect(await repository.find(8)).toBe(null);
      expect(repository.calls.splice(0)).toEqual(['a', 7]);
    }
    const service = module.get(BloomService);
    expect(service.filter('products')).toBe(original);
    expect(service.filters()).toEqual([original]);
    expect(service.has('products')).toBe(true);
  });

  it('gets what methods register, as it is written and once', async () => {
    const original = {
      add: jest.fn<(id: unknown) => Promise<boolean>>(async () => true),
      check: async () => 'maybe',
    };
    const module = await compiled(tested(app()).overrideProvider(token).useValue(original));
    await module.init();
    await module.get(Repository, { strict: false }).create({ sku: 7 });
    expect(original.add.mock.calls).toEqual([[7]]);
  });

  it('rejects a create that it refuses, and lets a lookup pass that it fails', async () => {
    const failing = async () => {
      throw new Error('away');
    };
    const module = await compiled(
      tested(app()).overrideProvider(token).useValue({ add: failing, check: failing }),
    );
    const repository = module.get(Repository, { strict: false });
    await expect(repository.create({ sku: 'a' })).rejects.toThrow('away');
    expect(await repository.find('a')).toBe('row a');
  });

  it('may be overridden in a test with BloomTestingModule, and by a factory', async () => {
    const check = async () => 'absent';
    const builder = Test.createTestingModule({
      imports: [BloomTestingModule.of({ orders: ['o'] }), CatalogueModule],
    });
    const module = await compiled(builder.overrideProvider(token).useFactory({ factory: () => ({ check }) }));
    await module.init();
    expect(await module.get(Repository, { strict: false }).find('a')).toBe(null);
    expect(await module.get(BloomService).filter('orders').check('x')).toBe('absent');
  });
});

/** As createMock of @golevelup makes them: every member is a function that returns another mock. */
function createMock(): object {
  const member = () => createMock();
  return new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : member) });
}

describe('a test that mocks what is missing', () => {
  it.each([
    ['an empty object', () => ({})],
    ['a deep mock', createMock],
    ['functions that return nothing', () => ({ check: jest.fn(), add: jest.fn(), addMany: jest.fn() })],
  ])('lets everything pass: %s', async (_, mocker) => {
    const setups = [
      { providers: [Repository] },
      { imports: [BloomTestingModule.passAll(quiet)], providers: [Repository] },
      { imports: [CatalogueModule] },
      { imports: [AppModule] },
    ];
    for (const setup of setups) {
      const module = await compiled(Test.createTestingModule(setup).useMocker(mocker));
      await module.init();
      const repository = module.get(Repository, { strict: false });
      expect(repository.products).toBeDefined();
      if (setup.imports?.[0] === AppModule) await repository.create({ sku: 'a' });
      expect(await repository.find('a')).toBe('row a');
      await repository.create({ sku: 'b' });
    }
  });
});
