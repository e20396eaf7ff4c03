import type { DataSource } from 'typeorm';
import {
  BloomConfigError,
  type BloomIdSource,
  type BloomOrderOptions,
  type BloomPagingOptions,
} from 'nestjs-bloom';
import { newRowsOfTable, type SqlQuery, withNumbers, withQuestionMarks } from 'nestjs-bloom/sources';
import { type ReplicationMode, runOn } from './data-source.js';
import type { DescribedTable } from './described-table.js';
import { noOrderOnThis, notOnThis } from './typeorm.messages.js';

/** The databases whose queries have a LIMIT, by the way in which they write parameters. */
const WRITTEN: Readonly<Record<string, (query: SqlQuery) => string>> = {
  postgres: withNumbers,
  'aurora-postgres': withNumbers,
  cockroachdb: withNumbers,
  mysql: withoutEscapes,
  mariadb: withoutEscapes,
  'aurora-mysql': withoutEscapes,
  sqlite: withoutEscapes,
  'better-sqlite3': withoutEscapes,
};

export interface NewRowsOfEntity extends BloomPagingOptions, BloomOrderOptions {
  readonly replicationMode: ReplicationMode;
  readonly fromReplica: boolean;
}

/**
 * What a source of TypeORM knows of the order of its rows.
 *
 * @throws {BloomConfigError} when there is no such column, or it has no order that is known here.
 */
export async function newRowsOfEntity(
  dataSource: DataSource,
  {
    databaseTable,
    databaseColumn,
    databaseKey,
    databaseType,
    isPostgres,
    hasTransformer,
    idOf,
  }: DescribedTable,
  { replicationMode, ...options }: NewRowsOfEntity,
): Promise<Pick<BloomIdSource, 'idsSince' | 'newest' | 'idOrder' | 'openTransactions'>> {
  const { type } = dataSource.options;
  const written = WRITTEN[type];
  if (!written) {
    if (options.order ?? options.ids) throw new BloomConfigError(noOrderOnThis(type));
    return { idOrder: { reason: notOnThis(type) } };
  }
  const at = {
    maker: 'fromTypeOrm',
    isPostgres,
    isMySql: written === withoutEscapes && !type.includes('sqlite'),
    isSqlite: type.includes('sqlite'),
    run: (query: SqlQuery) => runOn(dataSource, replicationMode, written(query), query.values),
    table: databaseTable,
    column: databaseColumn,
    quote: (name: string) => dataSource.driver.escape(name),
    ...(hasTransformer && { convert: (id: unknown) => idOf({ id }) }),
  };
  return newRowsOfTable(at, { ...options, type: databaseType, key: databaseKey });
}

/**
 * The driver takes each question mark for a parameter, and there is none in a name that TypeORM has escaped
 * here.
 */
function withoutEscapes(query: SqlQuery): string {
  return withQuestionMarks(query).replaceAll('\\?', '?');
}
