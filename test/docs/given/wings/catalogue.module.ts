import { Module } from '@nestjs/common';
import { BloomModule } from 'nestjs-bloom';
import { productIds } from './product-ids.js';
import { ProductController } from './product.controller.js';
import { ProductRepository } from './product.repository.js';

@Module({
  imports: [
    BloomModule.forFeature({
      name: 'products',
      capacity: 1_000_000,
      errorRate: 0.001,
      source: productIds,
      rebuild: { cron: '0 4 * * *' },
    }),
  ],
  controllers: [ProductController],
  providers: [ProductRepository],
})
export class CatalogueModule {}
