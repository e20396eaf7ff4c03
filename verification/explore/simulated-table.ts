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

/** One letter is far ahead of the others, and one is no number. */
export function numberOf(id: string): string {
  if (id === 'e') return id;
  return id === 'h' ? '900000000' : String(id.charCodeAt(0));
}

export interface PagedSourceOptions {
  readonly table: SimulatedTable;
  readonly pageSize: number;
  /** Whether rows are given one by one. */
  readonly single: boolean;
  /** Whether the source can tell how many rows there are. */
  readonly counts: boolean;
  /** Whether it reads new rows too, by their numbers. */
  readonly isOrdered?: boolean | undefined;
  /** Waits until the schedule lets the next query be made. */
  readonly turn: (what: string) => Promise<void>;
}

/** The source of one instance: reads the table page by page, whenever the schedule lets it. */
export class PagedSource implements BloomIdSource {
  /** Rows of the last reading. */
  read: string[] = [];
  readonly count?: () => Promise<number>;
  readonly idsSince?: BloomIdSource['idsSince'];
  readonly newest?: NonNullable<BloomIdSource['newest']>;

  constructor(private readonly options: PagedSourceOptions) {
    const { table, counts, isOrdered = false } = options;
    if (counts) this.count = async () => table.size;
    if (!isOrdered) return;
    this.idsSince = () => this.inOrder();
    this.newest = async (others = 0) => {
      await options.turn('asks for the newest row');
      return table.pageAfter('', Infinity).at(-1 - others);
    };
  }

  private async *inOrder(): AsyncIterable<string[]> {
    await this.options.turn('asks for the first row');
    yield this.options.table.pageAfter('', Infinity);
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
