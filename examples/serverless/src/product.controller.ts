import { Body, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { type Product, ProductRepository } from './product.repository.js';

@Controller('products')
export class ProductController {
  constructor(private readonly products: ProductRepository) {}

  @Get(':sku')
  @BloomGuarded('products')
  async find(@Param('sku') sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }

  @Post()
  @BloomRegisters('products', { id: 'sku' })
  async create(@Body() product: Product): Promise<Product> {
    return this.products.create(product);
  }
}
