import { Injectable } from '@nestjs/common';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { DataSource } from 'typeorm';
import { Product } from './product.entity.js';

@Injectable()
export class ProductRepository {
  constructor(private readonly database: DataSource) {}

  @BloomGuarded('products')
  async findBySku(sku: string): Promise<Product | null> {
    return this.database.manager.findOneBy(Product, { sku }); // not called for an absent SKU: the caller gets null
  }

  @BloomRegisters('products', { id: 'sku' })
  async create(product: { sku: string; name: string }): Promise<Product> {
    return this.database.manager.save(Product, product); // its SKU is in the filter by now
  }
}
