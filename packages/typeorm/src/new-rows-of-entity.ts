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
import { noOrderOnThis } from './typeorm.messages.js';

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

export interface NewRowsOfEntity extends BloomPagingOptions, Required<BloomOrderOptions> {
  readonly replicationMode: ReplicationMode;
  readonly fromReplica: boolean;
}

/**
 * What a source of TypeORM has with the option `order`.
 *
 * @throws {BloomConfigError} when there is no such column, or it has no order that is known here.
 */
export function newRowsOfEntity(
  dataSource: DataSource,
  { databaseTable, databaseColumn, databaseKey, isPostgres, hasTransformer, idOf }: DescribedTable,
  { replicationMode, ...options }: NewRowsOfEntity,
): Promise<Required<Pick<BloomIdSource, 'idsSince' | 'newest'>>> {
  const { type } = dataSource.options;
  const written = WRITTEN[type];
  if (!written) throw new BloomConfigError(noOrderOnThis(type));
  const at = {
    maker: 'fromTypeOrm',
    isPostgres,
    run: (query: SqlQuery) => runOn(dataSource, replicationMode, written(query), query.values),
    table: databaseTable,
    column: databaseColumn,
    quote: (name: string) => dataSource.driver.escape(name),
    ...(hasTransformer && { convert: (id: unknown) => idOf({ id }) }),
  };
  return newRowsOfTable(at, { ...options, ...(!isPostgres && { key: databaseKey }) });
}

/**
 * The driver takes each question mark for a parameter, and there is none in a name that TypeORM has escaped
 * here.
 */
function withoutEscapes(query: SqlQuery): string {
  return withQuestionMarks(query).replaceAll('\\?', '?');
}
