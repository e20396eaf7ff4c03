import { Controller, Get, NotFoundException, Param } from '@nestjs/common';
import type { Product } from './product.js';
import { ProductRepository } from './product.repository.js';

/** The twin of the product page without a guard, to see what the guard is for. */
@Controller('unguarded/products')
export class UnguardedProductsController {
  constructor(private readonly products: ProductRepository) {}

  @Get(':sku')
  async findOne(@Param('sku') sku: string): Promise<Product> {
    const product = await this.products.findBySkuUnguarded(sku);
    if (!product) throw new NotFoundException();
    return product;
  }
}
