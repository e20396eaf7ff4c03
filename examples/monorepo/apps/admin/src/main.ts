import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CatalogueModule } from '../../../libs/catalogue/catalogue.module.js';
import { ProductRepository } from '../../../libs/catalogue/product.repository.js';

/** Creates products. */
@Controller('products')
export class AdminController {
  constructor(private readonly products: ProductRepository) {}

  @Post()
  async create(@Body() product: { sku: string; name: string }) {
    return this.products.create(product);
  }
}

@Module({ imports: [CatalogueModule], controllers: [AdminController] })
export class AdminModule {}

const app = await NestFactory.create(AdminModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(process.env.PORT ?? 3001);
console.log(await app.getUrl());
