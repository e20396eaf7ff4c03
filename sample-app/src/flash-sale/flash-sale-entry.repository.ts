import { Injectable } from '@nestjs/common';
import { and, eq } from 'drizzle-orm';
import { BloomGuarded, BloomRegisters } from 'nestjs-bloom';
import { Database } from '../database/database.js';
import { flashSaleEntries } from '../database/schema.js';

export interface FlashSaleEntryKey {
  readonly saleId: string;
  readonly customerId: string;
}

export interface FlashSaleEntry extends FlashSaleEntryKey {
  readonly quantity: number;
  readonly enteredAt: Date;
}

/** Neither part holds a colon, so that no two keys make one id. */
const entryId = ({ saleId, customerId }: FlashSaleEntryKey): string => `${saleId}:${customerId}`;

@Injectable()
export class FlashSaleEntryRepository {
  constructor(private readonly database: Database) {}

  /**
   * The filter spares the first request of every customer this query, in the minute when all of them come.
   */
  @BloomGuarded('flash-sale-entries', { id: entryId })
  async find({ saleId, customerId }: FlashSaleEntryKey): Promise<FlashSaleEntry | null> {
    const [entry] = await this.database.orm
      .select()
      .from(flashSaleEntries)
      .where(and(eq(flashSaleEntries.saleId, saleId), eq(flashSaleEntries.customerId, customerId)))
      .limit(1);
    return entry ?? null;
  }

  /**
   * The primary key decides: two requests of one customer at the same moment, or a filter that was emptied,
   * make one entry.
   *
   * @returns null when the customer has taken part already.
   */
  @BloomRegisters('flash-sale-entries', { id: entryId })
  async create(entry: FlashSaleEntryKey & { quantity: number }): Promise<FlashSaleEntry | null> {
    const [created] = await this.database.orm
      .insert(flashSaleEntries)
      .values(entry)
      .onConflictDoNothing()
      .returning();
    return created ?? null;
  }
}
