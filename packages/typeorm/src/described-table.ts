import type { ColumnType, DataSource, EntitySchema, ObjectLiteral } from 'typeorm';
import { BloomConfigError, type BloomId, type BloomIdSpelling, type BloomScope } from 'nestjs-bloom';
import {
  collationOf,
  type DescribedColumn,
  estimateIds,
  hasKey,
  isBytes,
  isReadAsText,
  noSuchColumn,
  onlyOf,
  type RunQuery,
  spellingOf,
} from 'nestjs-bloom/sources';
import { entityNotRead } from './typeorm.messages.js';

export type Metadata = ReturnType<DataSource['getMetadata']>;
export type Column = Metadata['columns'][number];

/** A row as the driver gives it: the id, and the values that it is ordered by, `k0` and further. */
export type RawRow = Readonly<Record<string, unknown>>;

/** What the pages of an entity's column are read by. */
export interface DescribedTable {
  readonly entity: EntitySchema<ObjectLiteral>;
  /** The property that holds the ids. */
  readonly id: string;
  /** The property that names the tenant. */
  readonly scope: string | undefined;
  /**
   * The properties that the rows are ordered by; no two rows share all of their values. Empty for a table
   * without a key.
   */
  readonly order: readonly string[];
  /**
   * Those of them that are read as the text which the database writes, since the driver's value is not exact.
   */
  readonly asText: ReadonlySet<string>;
  /** The id is read as text: the application may have its driver make a number of it that is not exact. */
  readonly isIdText: boolean;
  /** As in a query. */
  readonly databaseTable: string;
  /** Names of the database: the column of the ids, and those of the key. */
  readonly databaseColumn: string;
  readonly databaseKey: readonly string[];
  readonly databaseType: string;
  readonly isPostgres: boolean;
  /** The application looks up what `idOf` makes of the stored value. */
  readonly hasTransformer: boolean;
  /** There is a key to order by. Where there is none, each value is read once. */
  readonly isDistinct: boolean;
  /** Values of a table without a key are told apart by their text, not as the column compares them. */
  readonly isValueText: boolean;
  /** The database compares rows of values: `(a, b) > (1, 2)`. */
  readonly comparesRows: boolean;
  readonly spelling: BloomIdSpelling | undefined;
  readonly idOf: (row: RawRow) => BloomId | null | undefined;
  readonly scopeOf: ((row: RawRow) => BloomScope) | undefined;
  readonly count: () => Promise<number | undefined>;
  /** Whether the database has the key too that the entity names. */
  readonly isKeyed: () => Promise<boolean>;
}

const POSTGRES = ['postgres', 'aurora-postgres', 'cockroachdb'];
const MYSQL = ['mysql', 'mariadb', 'aurora-mysql'];
/** Those of which it is known that they tell texts apart by their case. */
const WITH_CASE = [
  ...POSTGRES,
  'oracle',
  'spanner',
  'sqlite',
  'better-sqlite3',
  'sqljs',
  'cordova',
  'react-native',
  'nativescript',
  'expo',
  'capacitor',
];
const COMPARE_SINGLE_VALUES = ['mssql', 'oracle', 'sap', 'spanner'];

/** Properties of an entity; `column` undefined: the primary key. */
export interface WantedProperties {
  readonly column: string | undefined;
  readonly scope: string | undefined;
}

/** @throws {BloomConfigError} when there is no such entity or column. */
export async function describeTable(
  dataSource: DataSource,
  entity: EntitySchema<ObjectLiteral>,
  { column: wanted, scope }: WantedProperties,
): Promise<DescribedTable> {
  const maker = 'fromTypeOrm';
  const property = wanted ?? primaryKey(metadataOf(dataSource, entity, maker));
  const { metadata, column } = columnOf(dataSource, entity, { maker, property });
  const ofTenant = scope === undefined ? undefined : columnOf(dataSource, entity, { maker, property: scope });
  const { type } = dataSource.options;
  const isPostgres = POSTGRES.includes(type);
  const isUnique = isUniqueColumn(metadata, column);
  const isDistinct = isUnique || metadata.primaryColumns.length > 0;
  const order = isUnique ? [column] : metadata.primaryColumns;
  const typeOf = (one: Column) => databaseType(dataSource, one);
  const ignoresCase = !WITH_CASE.includes(type);
  const collation = await collationIn(dataSource, metadata, column);
  const spelling = spellingOfColumn(metadata, column, { type: typeOf(column), collation, ignoresCase });
  return {
    entity,
    id: property,
    scope,
    order: order.map(({ propertyPath }) => propertyPath),
    asText: new Set(
      order.filter((one) => isPostgres && isReadAsText(typeOf(one))).map(({ propertyPath }) => propertyPath),
    ),
    isIdText: isPostgres && spelling?.name === 'integer',
    databaseTable: tableName(dataSource, metadata),
    databaseColumn: column.databaseName,
    databaseKey: order.map(({ databaseName }) => databaseName),
    databaseType: typeOf(column),
    isPostgres,
    hasTransformer: column.transformer !== undefined,
    isDistinct,
    isValueText: isPostgres && !column.transformer && !isBytes(typeOf(column)),
    comparesRows: !COMPARE_SINGLE_VALUES.includes(type),
    spelling,
    idOf: idReader(dataSource, column, 'id'),
    scopeOf: ofTenant && (idReader(dataSource, ofTenant.column, 's') as DescribedTable['scopeOf']),
    count: async () => {
      const estimate = isPostgres
        ? await estimated(dataSource, { metadata, column, isUnique: isUnique || scope !== undefined })
        : undefined;
      return estimate ?? exactCount(dataSource, entity);
    },
    isKeyed: async () =>
      isUnique ||
      !isPostgres ||
      hasKey(
        runOf(dataSource),
        tableName(dataSource, metadata),
        order.map(({ databaseName }) => databaseName),
      ),
  };
}

/** A property of an entity, and the function that reads it, for errors. */
export interface WantedColumn {
  readonly maker: string;
  readonly property: string;
}

/** @throws {BloomConfigError} when there is no such entity or column. */
export function columnOf(
  dataSource: DataSource,
  entity: EntitySchema<ObjectLiteral>,
  { maker, property }: WantedColumn,
): { metadata: Metadata; column: Column } {
  const metadata = metadataOf(dataSource, entity, maker);
  const column = metadata.columns.find(({ propertyPath }) => propertyPath === property);
  if (column && !column.isVirtualProperty) return { metadata, column };
  const paths = metadata.columns.map(({ propertyPath }) => propertyPath).join(', ');
  throw new BloomConfigError(noSuchColumn(maker, metadata.name, property, paths));
}

function primaryKey({ name, primaryColumns }: Metadata): string {
  return onlyOf(
    'fromTypeOrm',
    name,
    primaryColumns.map(({ propertyPath }) => propertyPath),
  );
}

function metadataOf(dataSource: DataSource, entity: EntitySchema<ObjectLiteral>, maker: string): Metadata {
  try {
    return dataSource.getMetadata(entity);
  } catch (cause) {
    const { name } = (typeof entity === 'function' ? entity : entity.options) as { name: string };
    const why = dataSource.isInitialized
      ? 'its DataSource does not know it. Add it to the `entities` of the DataSource, or name another one by the option dataSource'
      : 'its DataSource is not initialised. Call initialize() before the application starts';
    throw new BloomConfigError(entityNotRead(maker, name, why), { cause });
  }
}

/** Whether no two rows share a value, by a constraint or an index over all rows and this column alone. */
function isUniqueColumn({ primaryColumns, uniques, indices }: Metadata, column: Column): boolean {
  const isAlone = (columns: readonly Column[]) => columns.length === 1 && columns[0] === column;
  return (
    isAlone(primaryColumns) ||
    uniques.some(({ columns }) => isAlone(columns)) ||
    indices.some(({ columns, isUnique, where }) => isUnique && !where && isAlone(columns))
  );
}

function databaseType(dataSource: DataSource, column: Column): string {
  const type = dataSource.driver.normalizeType(column as { type: ColumnType });
  return column.isArray ? `${type}[]` : type;
}

/** The one that the entity names, if any; a database of MySQL knows which one it is. */
async function collationIn(
  dataSource: DataSource,
  metadata: Metadata,
  { databaseName, collation, transformer }: Column,
): Promise<string | undefined> {
  const { driver, options } = dataSource;
  if (transformer || !MYSQL.includes(options.type)) return collation;
  const of = { table: tableName(dataSource, metadata), column: driver.escape(databaseName) };
  return collationOf(({ strings }) => dataSource.query(strings.join('?')), of);
}

function spellingOfColumn(
  { tableName }: Metadata,
  { databaseName, transformer }: Column,
  described: Pick<DescribedColumn, 'type' | 'collation' | 'ignoresCase'>,
): BloomIdSpelling | undefined {
  const name = `${tableName}.${databaseName}`;
  // What it makes equal, nobody else knows.
  if (transformer) return { column: `${name} has a transformer` };
  return spellingOf({ name, ...described });
}

/** A transformer makes of the stored value what the application looks up. */
function idReader(
  { driver }: DataSource,
  column: Column,
  name: 'id' | 's',
): (row: RawRow) => BloomId | null | undefined {
  if (!column.transformer) return (row) => row[name] as BloomId | null;
  return (row) => driver.prepareHydratedValue(row[name], column) as BloomId | null | undefined;
}

interface Estimated {
  readonly metadata: Metadata;
  readonly column: Column;
  readonly isUnique: boolean;
}

async function estimated(
  dataSource: DataSource,
  { metadata, column, isUnique }: Estimated,
): Promise<number | undefined> {
  // The table also holds the rows of other entities.
  if (metadata.discriminatorColumn) return undefined;
  const table = tableName(dataSource, metadata);
  return estimateIds(runOf(dataSource), { table, column: column.databaseName, isUnique });
}

function runOf(dataSource: DataSource): RunQuery {
  return (sql, parameters) => dataSource.query(sql, [...parameters]);
}

/** As in a query. */
export function tableName({ driver }: DataSource, { tablePath }: Metadata): string {
  return tablePath
    .split('.')
    .map((name) => driver.escape(name))
    .join('.');
}

function exactCount(dataSource: DataSource, entity: EntitySchema<ObjectLiteral>): Promise<number> {
  return dataSource.getRepository(entity).createQueryBuilder('row').withDeleted().cache(false).getCount();
}
