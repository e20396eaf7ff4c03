import {
  BadRequestException,
  Body,
  Controller,
  Get,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
} from '@nestjs/common';
import { isSku } from '../catalogue/product.js';
import { type Order, OrderRepository } from './order.repository.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrderRepository) {}

  @Get(':id')
  async findOne(@Param('id', ParseIntPipe) id: number): Promise<Order> {
    return orNotFound(await this.orders.findOne(id));
  }

  @Post()
  async place(@Body() body: { readonly sku?: unknown } | undefined): Promise<Order> {
    const sku = body?.sku;
    if (typeof sku !== 'string' || !isSku(sku)) throw new BadRequestException('Expected sku to be a SKU.');
    return this.orders.place(sku);
  }
}

/** The twin without a guard. */
@Controller('unguarded/orders')
export class UnguardedOrdersController {
  constructor(private readonly orders: OrderRepository) {}

  @Get(':id')
  async findOne(@Param('id', ParseIntPipe) id: number): Promise<Order> {
    return orNotFound(await this.orders.findOneUnguarded(id));
  }
}

function orNotFound(order: Order | null): Order {
  if (!order) throw new NotFoundException();
  return order;
}
