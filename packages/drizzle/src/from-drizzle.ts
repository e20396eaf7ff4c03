import type { InjectionToken } from '@nestjs/common';
import {
  Column,
  type GetColumnData,
  getTableColumns,
  getTableName,
  is,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm';
import { getTableConfig, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import {
  BloomConfigError,
  type BloomId,
  type BloomOrderOptions,
  type BloomSourceFactory,
} from 'nestjs-bloom';
import {
  type BloomTableOptions,
  checkedPaging,
  fromSql,
  madeFrom,
  onlyOf,
  type SqlColumn,
  type SqlQuery,
  type SqlSourceOptions,
} from 'nestjs-bloom/sources';
import { notOfATable, ROWS_NOT_OBJECTS } from './drizzle.messages.js';

/** What is used of a database of Drizzle, of any dialect. */
export interface DrizzleDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- each dialect has types of its own
  readonly select: (...args: any[]) => any;
  // oxlint-disable-next-line typescript/no-explicit-any -- of Postgres and MySQL
  readonly execute?: (query: SQL) => any;
  // oxlint-disable-next-line typescript/no-explicit-any -- of SQLite
  readonly all?: (query: SQL) => any;
}

/** Options of `fromDrizzle`. */
export type DrizzleSourceOptions = BloomTableOptions & BloomOrderOptions & Pick<SqlSourceOptions, 'scope'>;

/**
 * All values of the primary key of a table of Drizzle, or of one column, read in pages of raw rows, past its
 * cache and its replicas. Pages follow the column where it is unique, else the primary key.
 *
 * @param database the token of the database in the application, or the database itself.
 * @example
 * BloomModule.forFeature({ name: 'orders', source: fromDrizzle(DATABASE, orders) });
 * BloomModule.forFeature({ name: 'products', source: fromDrizzle(DATABASE, products.sku) });
 *
 * @throws {BloomConfigError} at the start of the application, when the column is one of a view.
 */
export function fromDrizzle(
  database: InjectionToken | DrizzleDatabase,
  table: Table,
  options?: DrizzleSourceOptions,
): BloomSourceFactory;
/** @param column the column of the ids. */
export function fromDrizzle<Of extends Column>(
  database: InjectionToken | DrizzleDatabase,
  column: Of & (GetColumnData<Of, 'raw'> extends BloomId ? Of : never),
  options?: DrizzleSourceOptions,
): BloomSourceFactory;
export function fromDrizzle(
  database: InjectionToken | DrizzleDatabase,
  of: Table | Column,
  options: DrizzleSourceOptions = {},
): BloomSourceFactory {
  checkedPaging('fromDrizzle', options);
  const isDatabase = typeof database === 'object' && 'select' in database;
  return madeFrom(
    isDatabase ? { object: database } : { token: database as InjectionToken },
    (made: DrizzleDatabase) => {
      const { at, ...known } = describe(made, is(of, Column) ? of : keyColumn(of));
      return fromSql(at, { ...options, ...known });
    },
  );
}

function describe(database: DrizzleDatabase, column: Column) {
  const { table, name } = writtenNames(database, column);
  const convert = conversionOf(column);
  const isPostgres = is(column, PgColumn);
  const at: SqlColumn = {
    maker: 'fromDrizzle',
    isPostgres,
    ignoresCase: !isPostgres && !column.columnType.startsWith('SQLite'),
    isMySql: column.columnType.startsWith('MySql'),
    isSqlite: column.columnType.startsWith('SQLite'),
    run: async (query) => rowsOf(await run(database, query)),
    table,
    column: name,
    quote: (one) => quoted(one, table[0]!),
    isKeyDefined: true,
    ...(convert && { convert }),
  };
  const order = isUnique(column) ? [column] : primaryKey(column.table);
  return { at, key: order.map((one) => writtenNames(database, one).name), type: column.getSQLType() };
}

const NAME = /(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`)/.source;
const SELECT = new RegExp(`^select (${NAME}) from (${NAME}(?:\\.${NAME})?)$`);

/**
 * As Drizzle writes them: its option `casing` may change those of columns.
 *
 * @throws {BloomConfigError} for a view or an alias, whose columns are those of their tables, keys included.
 */
function writtenNames(database: DrizzleDatabase, column: Column) {
  const { sql: text } = database.select({ id: column }).from(column.table).toSQL() as { sql: string };
  const [, name, table] = SELECT.exec(text) ?? [];
  if (!name || !table) {
    throw new BloomConfigError(notOfATable(column.name));
  }
  const mark = name[0]!;
  return { table, name: name.slice(1, -1).replaceAll(mark + mark, mark) };
}

function quoted(name: string, mark: string): string {
  return mark + name.replaceAll(mark, mark + mark) + mark;
}

const INTEGER = /^(?:Pg|MySql|SingleStore|SQLite)(?:Tiny|Small|Medium|Big)?(?:Int|Integer|Serial)(?:53|64)?$/;

/**
 * What makes of a value of the driver what the application has; undefined where that is the value, or an
 * integer, whose text is exact.
 */
function conversionOf(column: Column): SqlColumn['convert'] {
  const { columnType, dataType, mapFromDriverValue } = column;
  const isAsItIs =
    mapFromDriverValue === Column.prototype.mapFromDriverValue ||
    (is(column, PgColumn) && dataType === 'string') ||
    (dataType === 'custom' && (column as { mapFrom?: unknown }).mapFrom === undefined);
  return isAsItIs || INTEGER.test(columnType)
    ? undefined
    : (value) => column.mapFromDriverValue(value) as BloomId;
}

/** Past the query builder, whose cache may give what was there before, and whose replicas may lag behind. */
function run(database: DrizzleDatabase, { strings, values }: SqlQuery): unknown {
  const query = sql(strings as unknown as TemplateStringsArray, ...values.map((value) => sql.param(value)));
  return database.execute ? database.execute(query) : database.all!(query);
}

/** The result as the driver of the database gives it. */
function rowsOf(result: unknown): readonly object[] {
  const rows = Array.isArray(result) ? (result as unknown[]) : (result as { rows?: unknown[] })?.rows;
  const found = Array.isArray(rows?.[0]) ? rows[0] : rows;
  if (Array.isArray(found) && !Array.isArray(found[0])) return found as object[];
  throw new BloomConfigError(ROWS_NOT_OBJECTS);
}

function isUnique(column: Column): boolean {
  if (column.isUnique) return true;
  const key = primaryKey(column.table);
  return key.length === 1 && key[0] === column;
}

/** @throws {BloomConfigError} for a table without a primary key, and for one of several columns. */
function keyColumn(table: Table): Column {
  const key = primaryKey(table);
  const names = key.map(({ name }) => name);
  onlyOf('fromDrizzle', getTableName(table), names);
  return key[0]!;
}

/** Columns of the primary key, a composite one included; empty where the definition names none. */
function primaryKey(table: Table): Column[] {
  const columns: Column[] = Object.values(getTableColumns(table));
  const marked = columns.filter(({ primary }) => primary);
  if (marked.length > 0 || !is(table, PgTable)) return marked;
  const key = getTableConfig(table).primaryKeys[0]?.columns ?? [];
  // What stands in a definition of a table is no column of it, but of the same name.
  return key.flatMap(({ name }) => columns.find((column) => column.name === name) ?? []);
}
