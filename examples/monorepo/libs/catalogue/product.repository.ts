import { Inject, Injectable } from '@nestjs/common';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import type { Pool } from 'pg';

export const POOL = Symbol('POOL');

export interface Product {
  readonly sku: string;
  readonly name: string;
}

@Injectable()
export class ProductRepository {
  /** How often this process has asked the database for a product. */
  lookups = 0;

  constructor(@Inject(POOL) private readonly pool: Pool) {}

  @BloomGuarded('products')
  async findBySku(sku: string): Promise<Product | null> {
    this.lookups++;
    const { rows } = await this.pool.query<Product>('SELECT sku, name FROM products WHERE sku = $1', [sku]);
    return rows[0] ?? null;
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: Product): Promise<Product> {
    await this.pool.query('INSERT INTO products (sku, name) VALUES ($1, $2)', [product.sku, product.name]);
    return product;
  }
}
