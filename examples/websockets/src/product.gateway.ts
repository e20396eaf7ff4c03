import { MessageBody, SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { type Product, ProductRepository } from './product.repository.js';

@WebSocketGateway()
export class ProductGateway {
  constructor(private readonly products: ProductRepository) {}

  /** An absent SKU is answered with a WsException, which the client gets as an event 'exception'. */
  @SubscribeMessage('find')
  @BloomGuarded('products')
  async find(@MessageBody() sku: string): Promise<Product> {
    const product = await this.products.findBySku(sku);
    if (!product) throw new WsException('Not Found');
    return product;
  }

  @SubscribeMessage('create')
  @BloomRegisters('products', { id: 'sku' })
  async create(@MessageBody() product: { sku: string; name: string }): Promise<Product> {
    return this.products.create(product);
  }
}
