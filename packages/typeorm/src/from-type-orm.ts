import { DataSource, type EntitySchema, type ObjectLiteral } from 'typeorm';
import {
  type AllRowsOptions,
  type BloomTableOptions,
  checkedPaging,
  columnAndOptions,
  type ColumnAndOptions,
  columnName,
  expectAllRows,
  madeFrom,
  type RunQuery,
} from 'nestjs-bloom/sources';
import {
  BloomConfigError,
  type BloomIdProperty,
  type BloomOrderOptions,
  type BloomPageFunction,
  type BloomSourceFactory,
  fromPages,
} from 'nestjs-bloom';
import { providedDataSource, runOn, type WithDataSource } from './data-source.js';
import { type DescribedTable, describeTable, type RawRow } from './described-table.js';
import { newRowsOfEntity } from './new-rows-of-entity.js';
import { readRows } from './raw-rows.js';
import { scopeWithoutKey } from './typeorm.messages.js';

/** The columns of an entity that can be ids. */
export type TypeOrmColumn<Entity> = BloomIdProperty<Entity>;

export type TypeOrmEntity<Entity> = (abstract new (...args: never[]) => Entity) | EntitySchema<Entity>;

/** Options of `fromTypeOrm`. */
export interface TypeOrmSourceOptions extends BloomTableOptions, BloomOrderOptions, WithDataSource {
  /**
   * Server that is read, of a DataSource with `replication`. Default `master`; `slave` sets `fromReplica`.
   */
  readonly replicationMode?: 'master' | 'slave';
  /**
   * The property that names the tenant of a row, for a filter with `scoped: true`: ids are those of
   * `scopedId`. The entity needs a key.
   */
  readonly scope?: string;
}

/**
 * All values of the primary key of a TypeORM entity, or of one column, soft-deleted rows included, read in
 * pages of raw rows. Pages follow the column where no two rows share a value, else the primary key.
 *
 * @example
 * BloomModule.forFeature({ name: 'orders', source: fromTypeOrm(Order) });
 * BloomModule.forFeature({ name: 'products', source: fromTypeOrm(Product, 'sku') });
 *
 * @throws {BloomConfigError} at the start of the application, when the DataSource, the entity or the column
 * is not there.
 */
export function fromTypeOrm<Entity extends ObjectLiteral>(
  entity: TypeOrmEntity<Entity>,
  options?: TypeOrmSourceOptions,
): BloomSourceFactory;
/** @param column the property that holds the ids. Left out: the primary key. */
export function fromTypeOrm<Entity extends ObjectLiteral>(
  entity: TypeOrmEntity<Entity>,
  column: TypeOrmColumn<Entity>,
  options?: TypeOrmSourceOptions,
): BloomSourceFactory;
export function fromTypeOrm<Entity extends ObjectLiteral>(
  entity: TypeOrmEntity<Entity>,
  ...given: ColumnAndOptions<TypeOrmSourceOptions>
): BloomSourceFactory {
  const [column, all] = columnAndOptions(given);
  const {
    dataSource = DataSource,
    replicationMode = 'master',
    seesAllRows = false,
    fromReplica = replicationMode === 'slave',
    order,
    ids,
    scope,
    ...options
  } = all;
  const paging = checkedPaging('fromTypeOrm', options);
  return madeFrom(providedDataSource(dataSource), async (made: DataSource) => {
    const table = await describeTable(made, entity as EntitySchema<Entity>, { column, scope });
    const { spelling } = table;
    const pages = () =>
      fromPages<RawRow>(pageReader(made, table, { replicationMode, seesAllRows, fromReplica }), {
        ...paging,
        key: table.idOf,
        ...(table.scopeOf && { scope: table.scopeOf }),
        count: table.count,
        ...(spelling && { spelling }),
        readsFrom: columnName(table.databaseTable, table.databaseColumn),
      });
    if (scope !== undefined) return { ...pages(), ids: (context) => pages().ids(context) };
    const ordered = await newRowsOfEntity(made, table, {
      ...paging,
      ...(order !== undefined && { order }),
      ...(ids !== undefined && { ids }),
      replicationMode,
      fromReplica,
    });
    return { ...pages(), ids: (context) => pages().ids(context), ...ordered };
  });
}

/** State of one reading: the first page decides by which key the next ones begin. */
function pageReader(
  dataSource: DataSource,
  described: DescribedTable,
  {
    replicationMode,
    ...options
  }: Required<Pick<TypeOrmSourceOptions, 'replicationMode' | keyof AllRowsOptions>>,
): BloomPageFunction<RawRow> {
  let table = described;
  return async (after, { take }) => {
    if (!after) {
      const run: RunQuery = (sql, parameters) => runOn(dataSource, replicationMode, sql, parameters);
      if (table.isPostgres) await expectAllRows(run, table.databaseTable, options);
      if (!(await table.isKeyed())) table = { ...table, order: [], isDistinct: false };
      if (table.scope !== undefined && !table.isDistinct)
        throw new BloomConfigError(scopeWithoutKey('fromTypeOrm', table.databaseTable));
    }
    return readRows(dataSource, { table, after, take, replicationMode });
  };
}
