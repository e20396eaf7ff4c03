import type { ClientConfig } from 'pg';

/** Options of `postgresFeed`. */
export interface PostgresFeedOptions {
  /**
   * The primary server, as for a client of `pg`, by a user with the attribute REPLICATION who may read the
   * table.
   */
  readonly connection: string | ClientConfig;
  /**
   * The table: its name as the catalog has it, or schema and name with a dot between them: `Product`,
   * `shop.Product`. A text with quotes is taken as in a query: `shop."old.products"`. Its partitions and
   * children are followed too.
   */
  readonly table: string;
  /** The column of the ids, as the database names it. */
  readonly column: string;
  /** Name of the publication that has the table. */
  readonly publication: string;
  /** Name of the replication slot, which this filter alone uses: small letters, digits and `_`. */
  readonly slot: string;
  /**
   * Creates the publication and the slot where they are missing, and a slot anew that Postgres has given up.
   * Default false: an error says what to run.
   */
  readonly create?: boolean;
}
