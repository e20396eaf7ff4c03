import { type DynamicModule, Module } from '@nestjs/common';
import { BloomModule } from 'nestjs-bloom';
import { fromDrizzle } from '@nestjs-bloom/drizzle';
import { SOURCE_ORM } from '../database/database.js';
import { orders } from '../database/schema.js';
import { INITIAL_ORDERS, OrdersLoader } from './orders.loader.js';
import { OrderRepository } from './order.repository.js';
import { OrdersController, UnguardedOrdersController } from './orders.controller.js';

/** Orders have the numbers that the database gives them: the filter needs its source, and nothing else. */
@Module({})
export class OrdersModule {
  static forRoot({ initialOrders = 0 }: { readonly initialOrders?: number }): DynamicModule {
    return {
      module: OrdersModule,
      imports: [BloomModule.forFeature({ name: 'orders', source: fromDrizzle(SOURCE_ORM, orders.id) })],
      controllers: [OrdersController, UnguardedOrdersController],
      providers: [OrderRepository, OrdersLoader, { provide: INITIAL_ORDERS, useValue: initialOrders }],
    };
  }
}
