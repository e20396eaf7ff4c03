import { Inject, Injectable, Module, type Type } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  BloomConfigError,
  BloomFilter,
  BloomGuarded,
  BloomModule,
  BloomRegisters,
  BloomService,
  BloomUnavailableError,
  getBloomFilterToken,
  InjectBloomFilter,
  scopedId,
} from '../../src/index.js';
import { type BloomLayout, cuckoo } from '@nestjs-bloom/interop';
import { BloomTestingModule } from '../../src/testing/index.js';
import { startContext } from '../support/nest-app.js';

@Injectable()
class ProductRepository {
  readonly asked: string[] = [];

  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    this.asked.push(sku);
    return `row of ${sku}`;
  }

  @BloomRegisters('products')
  async create(sku: string): Promise<string> {
    return sku;
  }
}

@Injectable()
class ProductService {
  constructor(@InjectBloomFilter('products') readonly products: BloomFilter) {}
}

const SOURCE = {
  async *ids() {
    yield ['From-Source'];
  },
};

@Module({
  imports: [
    BloomModule.forFeature([
      {
        name: 'products',
        capacity: 100,
        source: SOURCE,
        normalize: (id) => String(id).toLowerCase(),
        rebuild: { cron: '0 4 * * *' },
      },
    ]),
  ],
  providers: [ProductRepository, ProductService],
})
class CatalogueModule {}

@Module({ imports: [BloomModule.forRoot({ redis: 'redis://127.0.0.1:1' }), CatalogueModule] })
class AppModule {}

let module: TestingModule | undefined;

afterEach(async () => {
  await module?.close();
  module = undefined;
});

async function start(...imports: unknown[]): Promise<ProductRepository> {
  module = await startContext({
    imports: imports as never[],
    providers: [ProductRepository, ProductService],
  });
  return module.get(ProductRepository);
}

describe('BloomTestingModule.of', () => {
  it('holds exactly the ids of the test, and what is added', async () => {
    const repository = await start(BloomTestingModule.of({ products: ['a'] }));
    expect(await repository.find('a')).toBe('row of a');
    expect(await repository.find('b')).toBeNull();
    await repository.create('b');
    expect(await repository.find('b')).toBe('row of b');
    expect(repository.asked).toEqual(['a', 'b']);
    const { products } = module!.get(ProductService);
    expect(await products.checkMany(['a', 'b', 'c'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await products.info()).toMatchObject({ state: 'ready', count: 2 });
    expect(products.guarding.counts()).toMatchObject({ absent: 1, maybe: 2 });
  });

  it('has no false positives among many ids', async () => {
    await start(BloomTestingModule.of({ products: Array.from({ length: 1000 }, (_, i) => `in-${i}`) }));
    const { products } = module!.get(ProductService);
    const verdicts = await products.checkMany(Array.from({ length: 5000 }, (_, i) => `out-${i}`));
    expect(new Set(verdicts)).toEqual(new Set(['absent']));
  });

  it('works in a module that is compiled and never initialised', async () => {
    module = await Test.createTestingModule({
      imports: [BloomTestingModule.of({ products: ['a'] })],
      providers: [ProductRepository, ProductService],
    }).compile();
    const repository = module.get(ProductRepository);
    expect(await repository.find('b')).toBeNull();
    expect(await repository.create('b')).toBe('b');
    expect(await module.get(ProductService).products.check('b')).toBe('maybe');
  });

  it('names the decorator whose filter the test has forgotten', async () => {
    await expect(start(BloomTestingModule.of({ product: ['a'] }))).rejects.toThrow(
      "expected the test to name the ids of 'products', got those of 'product'. Add \"products\": [], or use BloomTestingModule.passAll().",
    );
  });

  it.each([
    [['a'], "such as { products: ['a', 'b'] }"],
    [{ products: 'a' }, "Expected the ids of filter 'products' to be an array"],
    [{ products: [''] }, 'id'],
  ])('refuses %j as ids', (ids, message) => {
    expect(() => BloomTestingModule.of(ids as never)).toThrow(message);
  });
});

describe('BloomTestingModule.passAll', () => {
  it('lets every lookup through and takes every add', async () => {
    const repository = await start(BloomTestingModule.passAll());
    expect(await repository.find('anything')).toBe('row of anything');
    expect(await repository.create('x')).toBe('x');
    expect(await module!.get(ProductService).products.check('y')).toBe('maybe');
  });
});

describe('BloomTestingModule.down', () => {
  it('is unknown, and rejects adds', async () => {
    const repository = await start(BloomTestingModule.down());
    expect(await repository.find('a')).toBe('row of a');
    await expect(repository.create('x')).rejects.toThrow(BloomUnavailableError);
    expect(await module!.get(ProductService).products.check('a')).toBe('unknown');
  });

  it('answers what the test says to guards that cannot know', async () => {
    const guard = { onUnknown: () => 'as the test says' };
    const repository = await start(BloomTestingModule.down({ guard }));
    expect(await repository.find('a')).toBe('as the test says');
  });
});

describe('A module that registers its own filters', () => {
  it('keeps their options, has no schedule, and builds when the test asks for it', async () => {
    module = await startContext({ imports: [BloomTestingModule.of({ products: ['ABC'] }), CatalogueModule] });
    const { products } = module.get(ProductService);
    expect(await products.checkMany(['abc', 'Abc', 'from-source'])).toEqual(['maybe', 'maybe', 'absent']);
    expect(await products.rebuild()).toMatchObject({ outcome: 'published', ids: 1 });
    expect(await products.checkMany(['abc', 'from-source'])).toEqual(['absent', 'maybe']);
    expect(module.get(BloomService, { strict: false }).filters()).toHaveLength(1);
  });

  it.each([
    ['pass-all' as const, 'maybe'],
    ['down' as const, 'unknown'],
    [{ products: ['a'] }, 'absent'],
  ])('is tested as a part of the whole application, %j', async (filters, verdict) => {
    const builder = Test.createTestingModule({ imports: [AppModule] });
    module = await BloomTestingModule.override(builder, filters).compile();
    await module.init();
    expect(await module.get(ProductService).products.check('z')).toBe(verdict);
  });
});

describe('A filter of a layout from which ids can be removed', () => {
  const start = async (layout: BloomLayout) => {
    const products = { name: 'products', capacity: 100, layout };
    module = await startContext({
      imports: [BloomTestingModule.of({ products: ['a', 'b'] }), BloomModule.forFeature([products])],
    });
    return module.get<BloomFilter>(getBloomFilterToken('products'));
  };

  it('removes them', async () => {
    const filter = await start(cuckoo());
    await filter.remove('a');
    expect(await filter.checkMany(['a', 'b'])).toEqual(['absent', 'maybe']);
  });

  it('is no other one', async () => {
    const filter = await start('blocked' as never);
    await expect(filter.remove('a')).rejects.toThrow(/remove/);
  });
});

describe('The token of a filter', () => {
  it('is provided to factories too', async () => {
    const token = getBloomFilterToken('orders');
    @Injectable()
    class Orders {
      constructor(@Inject('isKnown') readonly isKnown: (id: string) => Promise<boolean>) {}
    }
    module = await startContext({
      imports: [BloomTestingModule.of({ orders: [7] })],
      providers: [
        Orders,
        {
          provide: 'isKnown',
          inject: [token],
          useFactory: (orders: BloomFilter) => (id: string) => orders.mightContain(id),
        },
      ],
    });
    const { isKnown } = module.get(Orders);
    expect([await isKnown('7'), await isKnown('8')]).toEqual([true, false]);
  });
});

describe('A test of a repository of tenants', () => {
  @Injectable()
  class Orders {
    @BloomGuarded('orders', { id: (_tenant: string, no: number) => no, scope: (tenant: string) => tenant })
    async find(_tenant: string, no: number): Promise<number | null> {
      return no;
    }
  }
  const start = (id: string | number | Uint8Array | bigint, imports: Type[] = []) =>
    startContext({ imports: [BloomTestingModule.of({ orders: [id] }), ...imports], providers: [Orders] });
  const registered = BloomModule.forFeature([{ name: 'orders', scoped: true, capacity: 100 }]);
  @Module({ imports: [registered] })
  class OrdersModule {}

  it.each([[], [OrdersModule]])('gives ids with their scopes: %p', async (...imports) => {
    const context = await start(scopedId('a', 1), imports as Type[]);
    const orders = context.get(Orders);
    expect(await Promise.all([orders.find('a', 1), orders.find('b', 1), orders.find('a', 2)])).toEqual([
      1,
      null,
      null,
    ]);
    await context.close();
    await expect(start(1, imports as Type[])).rejects.toThrow(BloomConfigError);
  });
});
