import { Module } from '@nestjs/common';
import { BloomModule } from 'nestjs-bloom';
import { fromPrisma } from '@nestjs-bloom/prisma';
import { PrismaService, guardedClient } from './prisma.service.js';
import { ProductController } from './product.controller.js';
import { ProductRepository } from './product.repository.js';

@Module({
  imports: [
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      timeoutMs: Number(process.env.BLOOM_TIMEOUT_MS ?? 25),
    }),
    BloomModule.forFeature({
      name: 'products',
      capacity: 100_000,
      source: fromPrisma(PrismaService, (prisma) => prisma.product, 'sku'),
      // Longer than any transaction here that creates a product.
      rebuild: { everyMs: 3_600_000, drainMs: 3_000 },
    }),
  ],
  controllers: [ProductController],
  providers: [PrismaService, guardedClient, ProductRepository],
})
export class AppModule {}
