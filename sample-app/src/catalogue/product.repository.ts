import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { products } from '../database/schema.js';
import { ShopStatistics } from '../statistics/shop-statistics.js';
import { ProductCache } from './product.cache.js';
import { isSku, type Product } from './product.js';

@Injectable()
export class ProductRepository {
  constructor(
    private readonly database: Database,
    private readonly cache: ProductCache,
    private readonly statistics: ShopStatistics,
  ) {}

  /** Null without a look at cache or database when the filter knows that the product does not exist. */
  @BloomGuarded('products')
  async findBySku(sku: string): Promise<Product | null> {
    const product = await this.findBySkuUnguarded(sku);
    if (!product) this.statistics.falsePositives++;
    return product;
  }

  /** For comparison: what a shop without a guard does. */
  findBySkuUnguarded(sku: string): Promise<Product | null> {
    return this.cache.read(sku, () => this.select(sku));
  }

  /**
   * The SKU is registered before the row is written, so no lookup of a product that exists is answered
   * "absent".
   *
   * @returns false when the SKU is taken.
   */
  @BloomRegisters('products', { id: 'sku' })
  async create(product: Product): Promise<boolean> {
    return this.database.orm.transaction(async (transaction) => {
      const created = await transaction
        .insert(products)
        .values(product)
        .onConflictDoNothing()
        .returning({ sku: products.sku });
      return created.length > 0;
    });
  }

  private async select(sku: string): Promise<Product | null> {
    if (!isSku(sku)) return null;
    const [product] = await this.database.orm.select().from(products).where(eq(products.sku, sku)).limit(1);
    return product ?? null;
  }
}
