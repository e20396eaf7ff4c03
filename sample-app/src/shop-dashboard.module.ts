import { type DynamicModule, Module } from '@nestjs/common';
import { type BloomDashboardAction, BloomDashboardModule } from '@nestjs-bloom/dashboard';
import { ShopStatistics } from './statistics/shop-statistics.js';

export interface ShopDashboardOptions {
  /**
   * Password of the user `operator`. Without it the dashboard is open: only the demo, which serves this
   * machine alone, leaves it out.
   */
  readonly password?: string | undefined;
  readonly actions?: readonly BloomDashboardAction[];
}

/** The dashboard of the filters, at /bloom, with what the shop counts beside it. */
@Module({})
export class ShopDashboardModule {
  static forRoot({ password, actions = [] }: ShopDashboardOptions): DynamicModule {
    return {
      module: ShopDashboardModule,
      imports: [
        BloomDashboardModule.forRootAsync({
          insecure: password === undefined,
          inject: [ShopStatistics],
          useFactory: (statistics: ShopStatistics) => ({
            ...(password !== undefined && { auth: { user: 'operator', password } }),
            series: [
              { name: 'Database queries', isCounter: true, read: () => statistics.databaseQueries },
              { name: 'Cache lookups', isCounter: true, read: () => statistics.cacheLookups },
            ],
            actions,
          }),
        }),
      ],
    };
  }
}
