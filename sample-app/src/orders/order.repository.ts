import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { BloomGuarded } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { orders } from '../database/schema.js';
import { ShopStatistics } from '../statistics/shop-statistics.js';

export type Order = typeof orders.$inferSelect;

@Injectable()
export class OrderRepository {
  constructor(
    private readonly database: Database,
    private readonly statistics: ShopStatistics,
  ) {}

  /** Null without a query when the filter knows that there is no such order. */
  @BloomGuarded('orders')
  async findOne(id: number): Promise<Order | null> {
    const order = await this.findOneUnguarded(id);
    if (!order) this.statistics.falsePositives++;
    return order;
  }

  /** For comparison. */
  async findOneUnguarded(id: number): Promise<Order | null> {
    const [order] = await this.database.orm.select().from(orders).where(eq(orders.id, id)).limit(1);
    return order ?? null;
  }

  /** Nothing has to be recorded: the number of a new order is greater than all that the filter covers. */
  async place(sku: string): Promise<Order> {
    const [order] = await this.database.orm.insert(orders).values({ sku }).returning();
    return order!;
  }
}
