import { Module } from '@nestjs/common';
import { BloomModule } from 'nestjs-bloom';
import { ProductController } from './product.controller.js';
import { ProductRepository } from './product.repository.js';

@Module({
  imports: [
    BloomModule.forRoot({
      redis: process.env.REDIS_URL ?? 'redis://localhost:6379',
      runtime: 'serverless',
    }),
    BloomModule.forFeature({ name: 'products', source: ProductRepository }),
  ],
  controllers: [ProductController],
  providers: [ProductRepository],
})
export class AppModule {}
