import 'reflect-metadata';
import { Controller, Get, Injectable, Module, NotFoundException, Param } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import {
  BloomFilter,
  BloomGuarded,
  type BloomIdSource,
  BloomModule,
  BloomRegisters,
  InjectBloomFilter,
} from 'nestjs-bloom';
import { BloomDashboardModule } from '@nestjs-bloom/dashboard';

export interface Product {
  sku: string;
}

@Injectable()
export class ProductSkus implements BloomIdSource {
  async *ids() {
    yield ['A-1', 'B-2', 'C-3'];
  }
}

@Injectable()
export class ProductRepository {
  readonly skus = new Set(['A-1', 'B-2', 'C-3']);
  readonly lookups: string[] = [];

  @BloomGuarded('products')
  async findBySku(sku: string): Promise<Product | null> {
    this.lookups.push(sku);
    return this.skus.has(sku) ? { sku } : null;
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: Product): Promise<void> {
    this.skus.add(product.sku);
  }
}

@Controller('products')
export class ProductController {
  /** How often the guarded route ran. */
  calls = 0;

  constructor(
    private readonly products: ProductRepository,
    @InjectBloomFilter('products') readonly filter: BloomFilter,
  ) {}

  @Get(':sku')
  @BloomGuarded('products')
  async show(@Param('sku') sku: string): Promise<Product> {
    this.calls++;
    return this.read(sku);
  }

  @Get('unguarded/:sku')
  async showUnguarded(@Param('sku') sku: string): Promise<Product> {
    return this.read(sku);
  }

  private async read(sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }
}

const redis = process.env.REDIS_URL;

@Module({
  imports: [
    ScheduleModule.forRoot(),
    // On a machine that is busy a lookup misses the deadline of 25 ms.
    BloomModule.forRoot(redis ? { redis, timeoutMs: 5_000, writeTimeoutMs: 10_000 } : {}),
    BloomDashboardModule.forRoot({ auth: { user: 'ada', password: 'a long password' } }),
    BloomModule.forFeature([
      {
        name: 'products',
        capacity: 1_000,
        errorRate: 1e-6,
        source: ProductSkus,
        rebuild: { cron: '0 4 * * *', drainMs: 0 },
        audit: false,
      },
    ]),
  ],
  controllers: [ProductController],
  providers: [ProductRepository, ProductSkus],
})
export class ShopModule {}
