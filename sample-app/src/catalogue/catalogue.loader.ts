import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { BloomFilter, InjectBloomFilter } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { products } from '../database/schema.js';
import type { Product } from './product.js';

const BATCH_ROWS = 1_000;

export const INITIAL_PRODUCTS = Symbol('INITIAL_PRODUCTS');

/** Brings the products that the table does not have yet into it when the shop starts. */
@Injectable()
export class CatalogueLoader implements OnModuleInit {
  constructor(
    private readonly database: Database,
    @InjectBloomFilter('products') private readonly filter: BloomFilter,
    @Inject(INITIAL_PRODUCTS) private readonly initialProducts: readonly Product[],
  ) {}

  async onModuleInit(): Promise<void> {
    for (let at = 0; at < this.initialProducts.length; at += BATCH_ROWS) {
      await this.load(this.initialProducts.slice(at, at + BATCH_ROWS));
    }
  }

  private async load(batch: Product[]): Promise<void> {
    await this.database.orm.transaction(async (transaction) => {
      const inserted = await transaction
        .insert(products)
        .values(batch)
        .onConflictDoNothing()
        .returning({ sku: products.sku });
      // Before the commit: a filter that survived in Redis must know the rows before anybody can see them.
      if (inserted.length > 0) await this.filter.addMany(inserted.map(({ sku }) => sku));
    });
  }
}
