import type { Client } from 'pg';
import { type FollowedTable, rows } from './feed-table.js';
import { tableChanged } from './postgres-feed.messages.js';

export interface WatchContext {
  readonly client: Client;
  /** The table as in a query, for reports. */
  readonly table: string;
  readonly read: () => Promise<FollowedTable>;
  /** Rows may have come that are not in the log. */
  readonly onGap: (reason: string) => void;
}

/** The OID of a relation as `RELATIONS` has it in a part. */
const OID = /^\d+(?=\.)/;

/**
 * Notices rows that come to the table past its log: with a partition, by a rename, while it is not published.
 */
export class TableWatch {
  private last: Promise<void> = Promise.resolve();

  /** @param known the table whose rows the filter has, or will have when gaps that were found are filled. */
  constructor(
    private readonly context: WatchContext,
    private known: FollowedTable,
  ) {}

  /** The table, as it was looked at last. */
  get table(): FollowedTable {
    return this.known;
  }

  /** Compares the table with the catalog, one look after the other. */
  look(): Promise<void> {
    return (this.last = this.last.then(() => this.compare()));
  }

  private async compare(): Promise<void> {
    const found = await this.context.read();
    const added = [...found.parts].filter(([part]) => !this.known.parts.has(part));
    // Before it is known: a place that is noted with it says that nothing is missing.
    if (added.length > 0 && !(await this.areEmpty(added.map(([part]) => part))))
      this.context.onGap(tableChanged(this.context.table, [...new Set(added.map(([, name]) => name))]));
    this.known = found;
  }

  /** Whether all are relations that have never had a row, such as new partitions. */
  private async areEmpty(parts: readonly string[]): Promise<boolean> {
    const oids = parts.map((part) => OID.exec(part)?.[0]);
    if (oids.includes(undefined)) return false;
    const sizes =
      'select coalesce(sum(pg_relation_size(c.oid)), 0) = 0 as "areEmpty" from pg_class c where c.oid = any($1)';
    const [found] = await rows<{ areEmpty: boolean }>(this.context.client, sizes, [oids]);
    return found!.areEmpty;
  }
}
