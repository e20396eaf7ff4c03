import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BloomModule } from 'nestjs-bloom';
import { BloomTypeOrmSubscriber, fromTypeOrm } from '@nestjs-bloom/typeorm';
import { database } from './database.js';
import { ProductController } from './product.controller.js';
import { Product } from './product.entity.js';
import { ProductRepository } from './product.repository.js';

@Module({
  imports: [
    TypeOrmModule.forRoot(database),
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      timeoutMs: Number(process.env.BLOOM_TIMEOUT_MS ?? 25),
    }),
    BloomModule.forFeature({
      name: 'products',
      capacity: 100_000,
      source: fromTypeOrm(Product, 'sku'),
      // Longer than any transaction here that creates a product.
      rebuild: { everyMs: 3_600_000, drainMs: 3_000 },
    }),
  ],
  controllers: [ProductController],
  providers: [
    ProductRepository,
    // Records what other code of the application inserts.
    BloomTypeOrmSubscriber.provide(Product, 'sku', { filter: 'products' }),
  ],
})
export class AppModule {}
