import { Body, Controller, Get, Injectable, Module, Param, Post, UseInterceptors } from '@nestjs/common';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  BloomConfigError,
  type BloomFilter,
  BloomGuarded,
  type BloomIdSource,
  BloomInterceptor,
  BloomModule,
  BloomRegisters,
  getBloomFilterToken,
} from 'nestjs-bloom';
import { PLATFORMS, type RunningApp, startApp, startContext } from '../support/nest-app.js';

interface Product {
  sku: string;
}

/** The table. Counts what reaches it. */
@Injectable()
class ProductRepository implements BloomIdSource {
  queries = 0;
  readonly rows = new Map<string, Product>([['a-1', { sku: 'a-1' }]]);

  async *ids() {
    yield [...this.rows.keys()];
  }

  @BloomGuarded('products')
  async find(sku: string): Promise<Product | null> {
    this.queries++;
    return this.rows.get(sku.toLowerCase()) ?? null;
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: Product): Promise<Product> {
    this.rows.set(product.sku.toLowerCase(), product);
    return product;
  }
}

@Controller('products')
class ProductController {
  constructor(private readonly repository: ProductRepository) {}

  @Get(':sku')
  @BloomGuarded('products')
  async find(@Param('sku') sku: string) {
    return this.repository.rows.get(sku.toLowerCase());
  }

  @Get('early/:id')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('products')
  async findEarly(@Param('id') id: string) {
    return this.repository.rows.get(id.toLowerCase());
  }

  @Get('repository/:sku')
  async findInRepository(@Param('sku') sku: string) {
    return { found: await this.repository.find(sku) };
  }

  @Post()
  async create(@Body() product: Product) {
    return this.repository.create(product);
  }
}

@Module({
  imports: [
    BloomModule.forFeature([
      {
        name: 'products',
        capacity: 1000,
        errorRate: 1e-6,
        source: ProductRepository,
        normalize: (id) => String(id).toLowerCase(),
        rebuild: { onBoot: 'never', drainMs: 0 },
        audit: false,
      },
    ]),
  ],
  controllers: [ProductController],
  providers: [ProductRepository],
})
class ProductModule {}

describe.each(PLATFORMS)('a guarded application on %s', (platform) => {
  let shop: RunningApp | undefined;
  afterEach(() => shop?.close());

  it.each([true, false])(
    'guards routes and repositories once its filter is built (isGlobal: %s)',
    async (isGlobal) => {
      shop = await startApp(platform, { imports: [BloomModule.forRoot({ isGlobal }), ProductModule] });
      const { get, app } = shop;
      const repository = app.get(ProductRepository, { strict: false });
      const filter = app.get<BloomFilter>(getBloomFilterToken('products'), { strict: false });

      expect(await get('/products/repository/none')).toEqual({ status: 200, body: { found: null } });
      expect(repository.queries).toBe(1);

      await filter.rebuild();
      expect(await get('/products/repository/none')).toEqual({ status: 200, body: { found: null } });
      expect(repository.queries).toBe(1);
      for (const door of ['/products/', '/products/early/']) {
        expect((await get(`${door}none`)).status).toBe(404);
        expect(await get(`${door}A-1`)).toEqual({ status: 200, body: { sku: 'a-1' } });
        expect((await get(`${door}B-2`)).status).toBe(404);
      }

      const body = JSON.stringify({ sku: 'B-2' });
      const headers = { 'content-type': 'application/json' };
      expect((await get('/products', { method: 'POST', headers, body })).status).toBe(201);
      for (const door of ['/products/', '/products/early/']) {
        expect(await get(`${door}b-2`)).toEqual({ status: 200, body: { sku: 'B-2' } });
      }
      await filter.rebuild();
      expect((await get('/products/repository/B-2')).body).toEqual({ found: { sku: 'B-2' } });
    },
  );
});

describe('a guarded application', () => {
  it('does not start where a guard names a filter that nobody registered', async () => {
    await expect(
      startContext({
        imports: [BloomModule.forRoot({ filters: [{ name: 'phones', capacity: 10 }] })],
        providers: [ProductRepository],
      }),
    ).rejects.toThrow(
      new BloomConfigError(
        "@BloomGuarded('products') on ProductRepository.find names a filter that is not registered.\n" +
          "@BloomRegisters('products') on ProductRepository.create names a filter that is not registered.\n" +
          "Registered filters: 'phones'. Register it with BloomModule.forFeature([{ name, capacity, … }]) or " +
          'forRoot({ filters }), or correct the name.',
      ),
    );
  });

  it('answers as forRoot({ guard }) says', async () => {
    const context = await startContext({
      imports: [
        BloomModule.forRoot({
          filters: [{ name: 'products', capacity: 10, create: 'first-start', audit: false }],
          guard: { onAbsent: (sku: string) => `no ${sku}` },
        }),
      ],
      providers: [ProductRepository],
    });
    expect(await context.get(ProductRepository).find('x')).toBe('no x');
    await context.close();
  });
});
