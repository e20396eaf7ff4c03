import type { InjectionToken } from '@nestjs/common';
import {
  and,
  asc,
  type Column,
  type GetColumnData,
  getTableColumns,
  getTableName,
  is,
  isNotNull,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm';
import { getTableConfig, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { BloomId } from '../../filter/index.js';
import {
  type BloomPagingOptions,
  type BloomSourceFactory,
  checkedPaging,
  estimateIds,
  fromPages,
  isReadAsText,
  madeFrom,
  spellingOf,
} from '../index.js';

/** What is used of a database of Drizzle, of any dialect. */
export interface DrizzleDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- each dialect has types of its own
  readonly select: (...args: any[]) => any;
  // oxlint-disable-next-line typescript/no-explicit-any -- SQLite has no `execute`
  readonly execute?: (query: SQL) => any;
}

/** Of `fromDrizzle`. */
export type DrizzleSourceOptions = BloomPagingOptions;

interface Row {
  readonly id: BloomId | null;
  readonly [place: `k${number}`]: unknown;
}

/**
 * All values of one column of a table of Drizzle, read in pages. Pages follow the column where it is unique, else the primary key.
 *
 * @param database the token of the database in the application, or the database itself.
 * @example
 * BloomModule.forFeature([{ name: 'products', capacity: 1_000_000, source: fromDrizzle(DATABASE, products.sku) }]);
 */
export function fromDrizzle<Of extends Column>(
  database: InjectionToken | DrizzleDatabase,
  column: Of & (GetColumnData<Of, 'raw'> extends BloomId ? Of : never),
  options: DrizzleSourceOptions = {},
): BloomSourceFactory {
  const paging = checkedPaging('fromDrizzle', options);
  const isDatabase = typeof database === 'object' && 'select' in database;
  return madeFrom(
    isDatabase ? { object: database } : { token: database as InjectionToken },
    (made: DrizzleDatabase) => sourceOf(made, column, paging),
  );
}

function sourceOf(database: DrizzleDatabase, column: Column, paging: Required<BloomPagingOptions>) {
  const { table } = column;
  const isPostgres = is(column, PgColumn);
  const isUnique = isUniqueColumn(column);
  const order = isUnique ? [column] : primaryKey(table);
  const isDistinct = order.length > 0;
  if (!isDistinct) order.push(column);
  const spelling = spellingOf({
    name: `${getTableName(table)}.${column.name}`,
    type: column.getSQLType(),
    ignoresCase: /^MySql|^SingleStore/.test(column.columnType),
  });
  const places = order.map((one) =>
    isPostgres && isReadAsText(one.getSQLType()) ? sql`${one}::text` : sql`${one}`,
  );
  const count = async () => {
    const rows = isPostgres && database.execute ? await estimate(database, column, isUnique) : undefined;
    return rows ?? (await counted(database, table));
  };
  return fromPages<Row>(
    (after, { take }) => {
      const fields = { id: column, ...Object.fromEntries(places.map((place, i) => [`k${i}`, place])) };
      const { select, selectDistinct = select } = database as unknown as Record<
        string,
        DrizzleDatabase['select']
      >;
      return (isDistinct ? select! : selectDistinct!)
        .call(database, fields)
        .from(table)
        .where(and(isNotNull(column), after && isAfter(order, after)))
        .orderBy(...order.map((one) => asc(one)))
        .limit(take);
    },
    { ...paging, key: 'id', count, ...(spelling && { spelling }) },
  );
}

/** Compares rows of values; they are parameters as the database wrote them, past the mapping of the columns. */
function isAfter(order: readonly Column[], after: Row): SQL {
  const columns = sql.join(
    order.map((one) => sql`${one}`),
    sql`, `,
  );
  const values = sql.join(
    order.map((_, i) => sql`${after[`k${i}`]}`),
    sql`, `,
  );
  return order.length === 1 ? sql`${columns} > ${values}` : sql`(${columns}) > (${values})`;
}

function isUniqueColumn(column: Column): boolean {
  if (column.isUnique) return true;
  const key = primaryKey(column.table);
  return key.length === 1 && key[0] === column;
}

/** Of a composite key of a table of Postgres too; empty where the definition names none. */
function primaryKey(table: Table): Column[] {
  const columns: Column[] = Object.values(getTableColumns(table));
  const marked = columns.filter(({ primary }) => primary);
  if (marked.length > 0 || !is(table, PgTable)) return marked;
  const key = getTableConfig(table).primaryKeys[0]?.columns ?? [];
  // What stands in a definition of a table is no column of it, but of the same name.
  return key.flatMap(({ name }) => columns.find((column) => column.name === name) ?? []);
}

async function estimate(
  database: DrizzleDatabase,
  column: Column,
  isUnique: boolean,
): Promise<number | undefined> {
  const { schema, name } = getTableConfig(column.table as PgTable);
  const quoted = [schema, name]
    .filter((part) => part !== undefined)
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');
  const run = async (text: string, parameters: readonly unknown[]) => {
    // Odd parts of the text are the numbers of its parameters.
    const chunks = text
      .split(/\$(\d)/)
      .map((part, i) => (i % 2 ? sql`${parameters[Number(part) - 1]}` : sql.raw(part)));
    const result = (await database.execute!(sql.join(chunks))) as { rows?: unknown[] } | unknown[];
    return Array.isArray(result) ? result : (result.rows ?? []);
  };
  return estimateIds(run, { table: quoted, column: column.name, isUnique });
}

async function counted(database: DrizzleDatabase, table: Table): Promise<number> {
  const [row] = (await database.select({ count: sql`count(*)` }).from(table)) as { count: unknown }[];
  return Number(row?.count);
}
