import type { BloomId } from '../filter/index.js';
import type { RunSql } from './sql-query.js';

/** A column of a table, and how a library asks for it. */
export interface SqlColumn {
  /** The function that made the source. */
  readonly maker: string;
  readonly isPostgres: boolean;
  /** Texts are compared without case unless a collation says otherwise. */
  readonly ignoresCase?: boolean;
  /** MySQL or MariaDB, whose collations are asked for. */
  readonly isMySql?: boolean;
  readonly run: RunSql;
  /** Quoted, as in a query. */
  readonly table: string;
  /** As the database names it. */
  readonly column: string;
  /** The name of a column as in a query. */
  readonly quote: (column: string) => string;
  /** The option `key` is that of the definition of the table, and no column of it is null. */
  readonly isKeyDefined?: boolean;
  /** What the application makes of the stored value, and looks up. */
  readonly convert?: (value: unknown) => BloomId | null | undefined;
}
