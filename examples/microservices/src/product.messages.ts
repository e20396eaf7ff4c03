import { Controller } from '@nestjs/common';
import { MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { type Product, ProductRepository } from './product.repository.js';

@Controller()
export class ProductMessages {
  constructor(private readonly products: ProductRepository) {}

  /** An absent SKU is answered with an RpcException: { statusCode: 404, message: 'Not Found' }. */
  @MessagePattern('product.find')
  @BloomGuarded('products', { id: 'sku' })
  async find(@Payload() { sku }: { sku: string }): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new RpcException({ statusCode: 404, message: 'Not Found' });
    return product;
  }

  @MessagePattern('product.create')
  @BloomRegisters('products', { id: 'sku' })
  async create(@Payload() product: { sku: string; name: string }): Promise<Product> {
    return this.products.create(product);
  }
}
