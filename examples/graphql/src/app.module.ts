import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { BloomModule } from 'nestjs-bloom';
import { ProductLoader } from './product.loader.js';
import { ProductRepository } from './product.repository.js';
import { LineResolver, ProductResolver } from './product.resolver.js';

@Module({
  imports: [
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      timeoutMs: Number(process.env.BLOOM_TIMEOUT_MS ?? 25),
    }),
    BloomModule.forFeature({
      name: 'products',
      capacity: 100_000,
      source: ProductRepository,
      // Longer than any transaction here that creates a product.
      rebuild: { everyMs: 3_600_000, drainMs: 3_000 },
    }),
  ],
  providers: [ProductRepository, ProductLoader, ProductResolver, LineResolver],
})
export class AppModule {}
