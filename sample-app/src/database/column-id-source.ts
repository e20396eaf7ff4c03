import { asc, gt } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { BloomIdSource } from 'nestjs-bloom';
import type { Database } from './database.js';

const PAGE_ROWS = 2_000;

/**
 * All values of a text primary key. Each page starts after the last key of the one before: an index lookup
 * however long the table is, and no transaction that stays open for the whole scan.
 */
export class ColumnIdSource implements BloomIdSource {
  constructor(
    private readonly database: Database,
    private readonly column: PgColumn,
  ) {}

  async *ids({ signal }: { signal: AbortSignal }): AsyncGenerator<string[]> {
    const { column } = this;
    let after = '';
    for (;;) {
      signal.throwIfAborted();
      const rows = await this.database.orm
        .select({ key: column })
        .from(column.table)
        .where(gt(column, after))
        .orderBy(asc(column))
        .limit(PAGE_ROWS);
      const page = rows.map((row) => row.key as string);
      if (page.length > 0) yield page;
      if (page.length < PAGE_ROWS) return;
      after = page.at(-1)!;
    }
  }

  count(): Promise<number> {
    return this.database.orm.$count(this.column.table);
  }
}
