import type { RunQuery } from './postgres-catalog.js';
import type { BloomId } from '../filter/index.js';

/** A query in parts, with a value between any two: each library writes placeholders in its own way. */
export interface SqlQuery {
  /** Its text between the values. */
  readonly strings: readonly string[];
  /** Its values. */
  readonly values: readonly unknown[];
}

/** Runs a query and gives its rows. */
export type RunSql = (query: SqlQuery) => Promise<readonly object[]>;

/** For a query whose text has `$1` and further, and none in quotes. */
export function numbered(run: RunSql): RunQuery {
  return (sql, parameters) => {
    // Odd parts of the text are the numbers of its parameters.
    const parts = sql.split(/\$(\d+)/);
    return run({
      strings: parts.filter((_, i) => i % 2 === 0),
      values: parts.filter((_, i) => i % 2 === 1).map((number) => parameters[Number(number) - 1]),
    });
  };
}

/** With `$1` and further in place of the values. */
export function withNumbers({ strings }: SqlQuery): string {
  return strings.reduce((text, part, i) => `${text}$${i}${part}`);
}

/** With `?` in place of the values. */
export function withQuestionMarks({ strings }: SqlQuery): string {
  return strings.map((part) => part.replaceAll('?', '\\?')).join('?');
}

/** A column of a table, and how a library asks for it. */
export interface SqlColumn {
  /** The function that made the source. */
  readonly maker: string;
  /** Postgres, whose catalog is asked. */
  readonly isPostgres: boolean;
  /** Texts are compared without case unless a collation says otherwise. */
  readonly ignoresCase?: boolean;
  /** MySQL or MariaDB, whose collations are asked for. */
  readonly isMySql?: boolean;
  /** SQLite, whose columns hold values of any type. */
  readonly isSqlite?: boolean;
  /** Runs a query. */
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

/** A table whose ids may be those of its primary key. */
export interface SqlTable extends Omit<SqlColumn, 'column'> {
  /** Left out: the primary key. */
  readonly column?: string | undefined;
}

/** For messages. */
export function nameOf({ table, column }: Pick<SqlColumn, 'table' | 'column'>): string {
  return `${table}.${column}`.replace(/["`]/g, '');
}

/**
 * The collation of a column of MySQL or MariaDB, without reading a row; undefined for a column without text.
 * Names are quoted.
 */
export async function collationOf(
  run: RunSql,
  { table, column }: { readonly table: string; readonly column: string },
): Promise<string | undefined> {
  const query = `select collation(t.${column}) as collation from (select 1 as n) o left join ${table} t on 1 = 0`;
  const [row] = (await run({ strings: [query], values: [] })) as { collation?: unknown }[];
  // Numbers and times have the one of bytes.
  return typeof row?.collation === 'string' && row.collation !== 'binary' ? row.collation : undefined;
}
