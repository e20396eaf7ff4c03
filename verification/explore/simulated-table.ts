import type { BloomIdSource } from '../../src/rebuild/index.js';

/** A table's key column, as transactions have committed it. Rows are never deleted. */
export class SimulatedTable {
  private readonly rows = new Set<string>();

  commit(ids: readonly string[]): void {
    for (const id of ids) this.rows.add(id);
  }

  has(id: string): boolean {
    return this.rows.has(id);
  }

  get size(): number {
    return this.rows.size;
  }

  /** The next rows in the order of the key, as a query sees them that is made now. */
  pageAfter(last: string, limit: number): string[] {
    return [...this.rows]
      .filter((id) => id > last)
      .toSorted()
      .slice(0, limit);
  }
}

export interface PagedSourceOptions {
  readonly table: SimulatedTable;
  readonly pageSize: number;
  /** Whether rows are given one by one. */
  readonly single: boolean;
  /** Whether the source can tell how many rows there are. */
  readonly counts: boolean;
  /** Waits until the schedule lets the next query be made. */
  readonly turn: (what: string) => Promise<void>;
}

/** The source of one instance: reads the table page by page, whenever the schedule lets it. */
export class PagedSource implements BloomIdSource {
  /** Rows of the last reading. */
  read: string[] = [];
  readonly count?: () => Promise<number>;

  constructor(private readonly options: PagedSourceOptions) {
    if (options.counts) this.count = async () => options.table.size;
  }

  async *ids(): AsyncIterable<string | string[]> {
    const { table, pageSize, single, turn } = this.options;
    const read: string[] = [];
    this.read = read;
    for (let last = ''; ;) {
      await turn('reads a page of the table');
      const page = table.pageAfter(last, pageSize);
      read.push(...page);
      if (single) yield* page;
      else if (page.length > 0) yield page;
      if (page.length < pageSize) return;
      last = page.at(-1)!;
    }
  }
}
