import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { sql } from 'drizzle-orm';
import { Database } from '../database/database.js';

export const INITIAL_ORDERS = Symbol('INITIAL_ORDERS');

/** Fills an empty table, past the application as another program would; each tenth order was cancelled. */
@Injectable()
export class OrdersLoader implements OnModuleInit {
  constructor(
    private readonly database: Database,
    @Inject(INITIAL_ORDERS) private readonly initialOrders: number,
  ) {}

  async onModuleInit(): Promise<void> {
    const { orm } = this.database;
    await orm.execute(sql`
      insert into orders (sku) select 'sku ' || number from generate_series(1, ${this.initialOrders}::int) number
      where not exists (select from orders)`);
    await orm.execute(sql`delete from orders where id % 10 = 0 and id <= ${this.initialOrders}`);
  }
}
