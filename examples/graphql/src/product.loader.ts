import { Injectable, Scope } from '@nestjs/common';
import DataLoader from 'dataloader';
import { BloomFilter, InjectBloomFilter } from 'nestjs-bloom';
import { ProductRepository, type ProductRow } from './product.repository.js';

/** One for each request, as a DataLoader should be: it caches. */
@Injectable({ scope: Scope.REQUEST })
export class ProductLoader {
  private readonly loader: DataLoader<string, ProductRow | null>;

  constructor(repository: ProductRepository, @InjectBloomFilter('products') products: BloomFilter) {
    this.loader = new DataLoader(
      products.guardBatch((skus: string[]) => repository.findBySkus(skus), { key: (row) => row.sku }),
    );
  }

  load(sku: string): Promise<ProductRow | null> {
    return this.loader.load(sku);
  }
}
