import { type DynamicModule, Module } from '@nestjs/common';
import { ShopStatistics } from '../statistics/shop-statistics.js';
import { Database, SOURCE_ORM } from './database.js';

export interface DatabaseModuleOptions {
  /** Without it Postgres runs embedded in this process. */
  readonly databaseUrl?: string | undefined;
}

@Module({})
export class DatabaseModule {
  static forRoot({ databaseUrl }: DatabaseModuleOptions): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      providers: [
        ShopStatistics,
        {
          provide: Database,
          inject: [ShopStatistics],
          useFactory: (statistics: ShopStatistics) => Database.open({ url: databaseUrl, statistics }),
        },
        { provide: SOURCE_ORM, inject: [Database], useFactory: ({ sourceOrm }: Database) => sourceOrm },
      ],
      exports: [Database, SOURCE_ORM, ShopStatistics],
    };
  }
}
