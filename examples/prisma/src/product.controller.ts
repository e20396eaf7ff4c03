import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import type { Product } from './generated/client.js';
import { ProductRepository } from './product.repository.js';

@Controller('products')
export class ProductController {
  constructor(private readonly products: ProductRepository) {}

  @Get(':sku')
  async findOne(@Param('sku') sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }

  @Post()
  async create(@Body() product: { sku: string; name: string }): Promise<Product> {
    return this.products.create(product);
  }
}
