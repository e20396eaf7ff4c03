import { Injectable } from '@nestjs/common';
import { BloomFilter, BloomGuarded, BloomRegisters, InjectBloomFilter } from 'nestjs-bloom';

export interface Product {
  readonly sku: string;
}

@Injectable()
export class ProductRepository {
  /** Stands for the table. */
  readonly rows = new Map<string, Product>([['mug', { sku: 'mug' }]]);
  lookups = 0;

  constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}

  @BloomGuarded('products')
  async findBySku(sku: string): Promise<Product | null> {
    this.lookups++;
    return this.rows.get(sku) ?? null;
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: Product): Promise<Product> {
    this.rows.set(product.sku, product);
    return product;
  }

  async isKnown(sku: string): Promise<boolean> {
    return this.products.mightContain(sku);
  }
}
