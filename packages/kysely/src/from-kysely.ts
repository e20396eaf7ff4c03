import type { InjectionToken } from '@nestjs/common';
import { type Kysely, type SelectType, sql } from 'kysely';
import { BloomConfigError, type BloomId, type BloomSourceFactory } from 'nestjs-bloom';
import { checkedPaging, fromSql, madeFrom, type SqlSourceOptions, type SqlTable } from 'nestjs-bloom/sources';
import { dialectNotRead, notTableAndColumn } from './kysely.messages.js';

/** Options of `fromKysely`. */
export type KyselySourceOptions = SqlSourceOptions;

/** `table.column` of each column that can hold ids; any text where the type of the database is not known. */
export type KyselyColumn<Database> = unknown extends Database
  ? string
  : {
      [Table in keyof Database & string]: {
        [Column in keyof Database[Table] & string]: NonNullable<
          SelectType<Database[Table][Column]>
        > extends BloomId
          ? `${Table}.${Column}`
          : never;
      }[keyof Database[Table] & string];
    }[keyof Database & string];

/** The tables, any text where the database has no type. A name with a schema needs its column. */
export type KyselyTable<Database> = unknown extends Database
  ? string
  : Exclude<keyof Database & string, `${string}.${string}`>;

// oxlint-disable-next-line typescript/no-explicit-any -- the names of tables are checked by the types of the caller
type AnyKysely = Kysely<any>;

/**
 * All values of the primary key of a table, or of one column, read in pages through Kysely. Pages follow
 * the column where no two rows share a value, else the primary key, by the catalog of Postgres.
 *
 * @param database the token of the Kysely of the application, or the Kysely itself.
 * @param column `table` for its primary key, `table.column`, or `schema.table.column`, as in Kysely's own
 * queries: its plugins take part.
 * @example
 * BloomModule.forFeature({ name: 'orders', source: fromKysely<Database>(KYSELY, 'orders') });
 * BloomModule.forFeature({ name: 'products', source: fromKysely<Database>(KYSELY, 'products.sku') });
 *
 * @throws {BloomConfigError} at the start of the application, when there is no such table or column.
 */
export function fromKysely<Database = unknown>(
  database: InjectionToken<Kysely<Database>> | Kysely<Database>,
  column: KyselyColumn<NoInfer<Database>> | KyselyTable<NoInfer<Database>>,
  options: KyselySourceOptions = {},
): BloomSourceFactory {
  checkedPaging('fromKysely', options);
  const isDatabase = typeof database === 'object' && 'selectFrom' in database;
  return madeFrom<AnyKysely>(
    isDatabase ? { object: database } : { token: database as InjectionToken },
    async (made) => fromSql(describe(made, column), options),
  );
}

function describe(database: AnyKysely, path: string): SqlTable {
  const dot = path.lastIndexOf('.');
  if (dot === 0 || path === '') {
    throw new BloomConfigError(notTableAndColumn(path));
  }
  const [from, column] = dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)];
  const written = (one: string) => writtenNames(database, from!, one);
  const { table, quoted } = written(column ?? 'id');
  // The dialect shows in what it writes and in what it says of itself: the names of its classes change in a
  // bundle.
  const parameter = sql`${0}`.compile(database).sql;
  if (parameter !== '$1' && parameter !== '?') throw new BloomConfigError(dialectNotRead(parameter));
  const { supportsTransactionalDdl = false, supportsReturning = false } = database.getExecutor().adapter;
  // Postgres and SQLite, which tell texts apart by their case, are the only known dialects of this kind.
  const isOfStandard = quoted.startsWith('"') && supportsReturning;
  return {
    maker: 'fromKysely',
    isPostgres: isOfStandard && supportsTransactionalDdl && parameter === '$1',
    ignoresCase: !isOfStandard,
    isMySql: quoted.startsWith('`') && parameter === '?',
    isSqlite: isOfStandard && !supportsTransactionalDdl && parameter === '?',
    run: async ({ strings, values }) => {
      const query = sql<object>(strings as unknown as TemplateStringsArray, ...values);
      return (await query.execute(database)).rows;
    },
    table,
    column: column && unquoted(quoted),
    quote: (one) => written(one).quoted,
  };
}

/**
 * As Kysely writes them with its plugins, which may change the case of names and put a schema before them.
 */
function writtenNames(database: AnyKysely, table: string, column: string) {
  const text = database.selectFrom(table).select(column).compile().sql;
  const [, quoted, from] = /^select (.+) from (.+)$/s.exec(text)!;
  return { table: from!, quoted: quoted! };
}

function unquoted(quoted: string): string {
  return quoted.slice(1, -1).replaceAll('""', '"').replaceAll('``', '`');
}
