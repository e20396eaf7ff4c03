import { DataSource, type EntitySchema, type ObjectLiteral } from 'typeorm';
import {
  type AllRowsOptions,
  type BloomTableOptions,
  checkedPaging,
  columnName,
  expectAllRows,
  madeFrom,
  type RunQuery,
} from 'nestjs-bloom/sources';
import {
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

/** The columns of an entity that can be ids. */
export type TypeOrmColumn<Entity> = BloomIdProperty<Entity>;

/** Options of `fromTypeOrm`. */
export interface TypeOrmSourceOptions extends BloomTableOptions, BloomOrderOptions, WithDataSource {
  /**
   * Server that is read, of a DataSource with `replication`. Default `master`; `slave` sets `fromReplica`.
   */
  readonly replicationMode?: 'master' | 'slave';
}

/**
 * All values of one column of a TypeORM entity, soft-deleted rows included, read in pages of raw rows. Pages
 * follow the column where no two rows share a value, else the primary key.
 *
 * @example
 * BloomModule.forFeature([{ name: 'products', capacity: 1_000_000, source: fromTypeOrm(Product, 'sku') }]);
 *
 * @throws {BloomConfigError} at the start of the application, when the DataSource, the entity or the column
 * is not there.
 */
export function fromTypeOrm<Entity extends ObjectLiteral>(
  entity: (abstract new (...args: never[]) => Entity) | EntitySchema<Entity>,
  column: TypeOrmColumn<Entity>,
  {
    dataSource = DataSource,
    replicationMode = 'master',
    seesAllRows = false,
    fromReplica = replicationMode === 'slave',
    order,
    ...options
  }: TypeOrmSourceOptions = {},
): BloomSourceFactory {
  const paging = checkedPaging('fromTypeOrm', options);
  return madeFrom(providedDataSource(dataSource), async (made: DataSource) => {
    const table = await describeTable(made, entity as EntitySchema<Entity>, column);
    const { spelling } = table;
    const pages = () =>
      fromPages<RawRow>(pageReader(made, table, { replicationMode, seesAllRows, fromReplica }), {
        ...paging,
        key: table.idOf,
        count: table.count,
        ...(spelling && { spelling }),
        readsFrom: columnName(table.databaseTable, table.databaseColumn),
      });
    const ordered =
      order === undefined
        ? undefined
        : await newRowsOfEntity(made, table, { ...paging, order, replicationMode, fromReplica });
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
    }
    return readRows(dataSource, { table, after, take, replicationMode });
  };
}
