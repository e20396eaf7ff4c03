import { Controller, Get, NotFoundException, Param } from '@nestjs/common';
import { BloomGuarded } from 'nestjs-bloom';
import { Product } from './product.entity.js';
import { ProductRepository } from './product.repository.js';

@Controller('products')
export class ProductController {
  constructor(private readonly products: ProductRepository) {}

  @Get(':sku')
  @BloomGuarded('products')
  async findOne(@Param('sku') sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }
}
