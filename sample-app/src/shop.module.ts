import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { BloomModule } from 'nestjs-bloom';
import { CatalogueModule } from './catalogue/catalogue.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { DatabaseModule } from './database/database.module.js';
import { FlashSaleModule } from './flash-sale/flash-sale.module.js';
import { OrdersModule } from './orders/orders.module.js';
import type { ShopConfig } from './shop.config.js';
import { ShopDashboardModule } from './shop-dashboard.module.js';
import { StatisticsController } from './statistics/statistics.controller.js';

@Module({})
export class ShopModule {
  static forRoot(config: ShopConfig): DynamicModule {
    return {
      module: ShopModule,
      imports: [
        DatabaseModule.forRoot(config),
        ScheduleModule.forRoot(),
        BloomModule.forRoot({
          // Without Redis the filters are in memory: what is left out on purpose is not given as undefined.
          ...(config.redisUrl !== undefined && { redis: config.redisUrl }),
          ...(config.keyPrefix !== undefined && { keyPrefix: config.keyPrefix }),
          onEvent: config.onBloomEvent,
        }),
        CatalogueModule.forRoot(config),
        OrdersModule.forRoot(config),
        CustomersModule.forRoot(config),
        FlashSaleModule.forRoot(config),
        ...(config.dashboard ? [ShopDashboardModule.forRoot(config.dashboard)] : []),
      ],
      controllers: [StatisticsController],
    };
  }
}
