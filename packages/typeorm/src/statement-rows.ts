import type { QueryRunner } from 'typeorm';

/** What TypeORM reports of one row that it writes. */
export interface WrittenRow {
  readonly metadata: object;
}

/** Gathers the rows of one statement, which TypeORM reports one by one in one turn of the event loop. */
export class StatementRows<Row extends WrittenRow> {
  private readonly open = new Map<QueryRunner, { readonly rows: Row[]; readonly done: Promise<void> }>();

  constructor(private readonly handle: (rows: readonly Row[], runner: QueryRunner) => Promise<void>) {}

  /** @returns a promise for what becomes of all rows of the statement. */
  take(runner: QueryRunner, row: Row): Promise<void> {
    const found = this.open.get(runner);
    if (found?.rows[0]!.metadata === row.metadata) {
      found.rows.push(row);
      return found.done;
    }
    const rows = [row];
    const done = Promise.resolve().then(() => {
      if (this.open.get(runner)?.rows === rows) this.open.delete(runner);
      return this.handle(rows, runner);
    });
    this.open.set(runner, { rows, done });
    return done;
  }
}
