import { Controller, Get, NotFoundException, Param, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { BloomService } from 'nestjs-bloom';
import { CatalogueModule } from '../../../libs/catalogue/catalogue.module.js';
import { ProductRepository } from '../../../libs/catalogue/product.repository.js';

/** Shows products. */
@Controller()
export class ShopController {
  constructor(
    private readonly products: ProductRepository,
    private readonly bloom: BloomService,
  ) {}

  @Get('products/:sku')
  async findOne(@Param('sku') sku: string) {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }

  /** For the e2e script. */
  @Get('status')
  async status() {
    const { state } = await this.bloom.filter('products').info();
    return { state, lookups: this.products.lookups };
  }
}

@Module({ imports: [CatalogueModule], controllers: [ShopController] })
export class ShopModule {}

const app = await NestFactory.create(ShopModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(process.env.PORT ?? 3000);
console.log(await app.getUrl());
