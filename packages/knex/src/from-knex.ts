import type { InjectionToken } from '@nestjs/common';
import type { Knex } from 'knex';
import { BloomConfigError, type BloomIdProperty, type BloomSourceFactory } from 'nestjs-bloom';
import {
  checkedPaging,
  columnAndOptions,
  type ColumnAndOptions,
  fromSql,
  madeFrom,
  type SqlSourceOptions,
  type SqlTable,
  withQuestionMarks,
} from 'nestjs-bloom/sources';
import { dialectNotRead } from './knex.messages.js';

/** Options of `fromKnex`. */
export type KnexSourceOptions = SqlSourceOptions;

/** The columns that can hold ids; any text where the type of a row is not known. */
export type KnexColumn<Row> = unknown extends Row ? string : BloomIdProperty<Row>;

/** Their queries have no LIMIT. */
const WITHOUT_LIMIT = ['mssql', 'oracle'];
/** Those of which it is known that they tell texts apart by their case. */
const WITH_CASE = ['postgresql', 'redshift', 'sqlite3'];

/**
 * All values of the primary key of a table, or of one column, read in pages through Knex. Pages follow
 * the column where no two rows share a value, else the primary key, by the catalog of Postgres.
 *
 * @param knex the token of the Knex of the application, or the Knex itself.
 * @param table as in Knex's own queries: `products`, or with its schema `shop.products`.
 * @example
 * BloomModule.forFeature({ name: 'orders', source: fromKnex(KNEX, 'orders') });
 * BloomModule.forFeature({ name: 'products', source: fromKnex<Product>(KNEX, 'products', 'sku') });
 *
 * @throws {BloomConfigError} at the start of the application, when there is no such table or column.
 */
export function fromKnex<_Row = unknown>(
  knex: InjectionToken<Knex> | Knex,
  table: string,
  options?: KnexSourceOptions,
): BloomSourceFactory;
/** @param column the column of the ids. Left out: the primary key, by the catalog of Postgres or `key`. */
export function fromKnex<Row = unknown>(
  knex: InjectionToken<Knex> | Knex,
  table: string,
  column: KnexColumn<Row>,
  options?: KnexSourceOptions,
): BloomSourceFactory;
export function fromKnex(
  knex: InjectionToken<Knex> | Knex,
  table: string,
  ...given: ColumnAndOptions<KnexSourceOptions>
): BloomSourceFactory {
  const [column, options] = columnAndOptions(given);
  checkedPaging('fromKnex', options);
  const isKnex = typeof knex === 'function' && 'client' in knex && 'raw' in knex;
  return madeFrom<Knex>(isKnex ? { object: knex as Knex } : { token: knex as InjectionToken }, async (made) =>
    fromSql(describe(made, table, column), options),
  );
}

function describe(knex: Knex, name: string, property: string | undefined): SqlTable {
  const { dialect } = knex.client as { dialect: string };
  if (WITHOUT_LIMIT.includes(dialect)) {
    throw new BloomConfigError(dialectNotRead(dialect));
  }
  const { table, quoted } = writtenNames(knex, name, property ?? 'id');
  return {
    maker: 'fromKnex',
    isPostgres: dialect === 'postgresql',
    ignoresCase: !WITH_CASE.includes(dialect),
    isMySql: dialect === 'mysql',
    isSqlite: dialect === 'sqlite3',
    run: async (query) => rowsOf(await knex.raw(withQuestionMarks(query), query.values as Knex.RawBinding[])),
    table,
    column: property && quoted.slice(1, -1).replaceAll('""', '"').replaceAll('``', '`'),
    quote: (one) => writtenNames(knex, name, one).quoted,
  };
}

/** As Knex writes them; its option `wrapIdentifier` may change them. */
function writtenNames(knex: Knex, table: string, column: string) {
  const text = knex(table).select(column).toSQL().sql;
  const [, quoted, from] = /^select (.+) from (.+)$/s.exec(text)!;
  return { table: from!, quoted: quoted! };
}

/** The result as the driver of the database gives it. */
function rowsOf(result: unknown): readonly object[] {
  if (!Array.isArray(result)) return (result as { rows: object[] }).rows;
  return Array.isArray(result[0]) ? (result[0] as object[]) : (result as object[]);
}
