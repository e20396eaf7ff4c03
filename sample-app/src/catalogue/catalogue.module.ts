import { type DynamicModule, Module } from '@nestjs/common';
import { BloomModule, type BloomRebuildSchedule } from 'nestjs-bloom';
import { ColumnIdSource } from '../database/column-id-source.js';
import { Database } from '../database/database.js';
import { products } from '../database/schema.js';
import { CatalogueLoader, INITIAL_PRODUCTS } from './catalogue.loader.js';
import { ProductCache } from './product.cache.js';
import type { Product } from './product.js';
import { ProductRepository } from './product.repository.js';
import { ProductsController } from './products.controller.js';
import { UnguardedProductsController } from './unguarded-products.controller.js';

export interface CatalogueModuleOptions {
  /** Products to sell from the start; what the table has already stays as it is. */
  readonly initialProducts?: readonly Product[];
  readonly rebuild?: BloomRebuildSchedule;
  readonly audit?: false;
  readonly partitions?: number | undefined;
  readonly leaseMs?: number | undefined;
}

@Module({})
export class CatalogueModule {
  static forRoot(options: CatalogueModuleOptions): DynamicModule {
    const { initialProducts = [], rebuild, audit, partitions, leaseMs } = options;
    return {
      module: CatalogueModule,
      imports: [
        BloomModule.forFeatureAsync([
          {
            name: 'products',
            inject: [Database],
            useFactory: (database: Database) => ({
              capacity: 50_000,
              errorRate: 0.001,
              source: new ColumnIdSource(database, products.sku),
              rebuild,
              audit,
              ...(partitions !== undefined && { partitions }),
              ...(leaseMs !== undefined && { replica: 'leased', leaseMs }),
            }),
          },
        ]),
      ],
      controllers: [ProductsController, UnguardedProductsController],
      providers: [
        ProductRepository,
        ProductCache,
        CatalogueLoader,
        { provide: INITIAL_PRODUCTS, useValue: initialProducts },
      ],
      exports: [ProductRepository],
    };
  }
}
