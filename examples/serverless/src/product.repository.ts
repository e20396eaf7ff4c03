import { Injectable } from '@nestjs/common';

export interface Product {
  readonly sku: string;
  readonly name: string;
}

/** Stands for a database. */
@Injectable()
export class ProductRepository {
  lookups = 0;
  private readonly rows = new Map<string, Product>([['mug', { sku: 'mug', name: 'Mug' }]]);

  /** The source of the filter. */
  async *ids(): AsyncGenerator<string[]> {
    yield [...this.rows.keys()];
  }

  async findBySku(sku: string): Promise<Product | null> {
    this.lookups++;
    return this.rows.get(sku) ?? null;
  }

  async create(product: Product): Promise<Product> {
    this.rows.set(product.sku, product);
    return product;
  }
}
