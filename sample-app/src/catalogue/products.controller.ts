import { Body, ConflictException, Controller, Get, NotFoundException, Param, Post } from '@nestjs/common';
import { BloomGuarded } from 'nestjs-bloom';
import { parseNewProduct, type Product } from './product.js';
import { ProductRepository } from './product.repository.js';

@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductRepository) {}

  @Get(':sku')
  @BloomGuarded('products')
  async findOne(@Param('sku') sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new NotFoundException();
    return product;
  }

  @Post()
  async create(@Body() body: unknown): Promise<Product> {
    const product = parseNewProduct(body);
    if (!(await this.products.create(product)))
      throw new ConflictException(`The SKU '${product.sku}' is taken.`);
    return product;
  }
}
