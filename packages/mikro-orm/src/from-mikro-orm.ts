import type { InjectionToken } from '@nestjs/common';
import {
  type EntityMetadata,
  type EntityName,
  type EntityProperty,
  MikroORM,
  type Platform,
  ReferenceKind,
  types,
} from '@mikro-orm/core';
import {
  BloomConfigError,
  type BloomId,
  type BloomIdProperty,
  type BloomOrderOptions,
  type BloomSourceFactory,
} from 'nestjs-bloom';
import {
  type BloomTableOptions,
  checkedPaging,
  columnAndOptions,
  type ColumnAndOptions,
  fromSql,
  madeFrom,
  noSuchColumn,
  onlyOf,
  type SqlColumn,
  type SqlSourceOptions,
  withQuestionMarks,
} from 'nestjs-bloom/sources';
import { entityNotKnown, platformNotRead } from './mikro-orm.messages.js';

/** The properties of an entity that can be ids. */
export type MikroOrmProperty<Entity> = BloomIdProperty<Entity>;

/** Options of `fromMikroOrm`. */
export interface MikroOrmSourceOptions
  extends BloomTableOptions, BloomOrderOptions, Pick<SqlSourceOptions, 'scope'> {
  /** The MikroORM: its token, or the object. Default: the class `MikroORM` of `@mikro-orm/core`. */
  readonly orm?: InjectionToken<MikroORM> | MikroORM;
  /** Which server is read. Default `write`; `read` sets `fromReplica`. */
  readonly connection?: 'read' | 'write';
}

/**
 * All values of the primary key of an entity of MikroORM, or of one property, read in pages of raw rows, past
 * its filters. Pages follow the column where no two rows share a value, else the primary key.
 *
 * @example
 * BloomModule.forFeature({ name: 'orders', source: fromMikroOrm(Order) });
 * BloomModule.forFeature({ name: 'products', source: fromMikroOrm(Product, 'sku') });
 *
 * @throws {BloomConfigError} at the start of the application, when the entity or the property is not there.
 */
export function fromMikroOrm<Entity extends object>(
  entity: EntityName<Entity>,
  options?: MikroOrmSourceOptions,
): BloomSourceFactory;
/** @param property the property that holds the ids. Left out: the primary key. */
export function fromMikroOrm<Entity extends object>(
  entity: EntityName<Entity>,
  property: MikroOrmProperty<Entity>,
  options?: MikroOrmSourceOptions,
): BloomSourceFactory;
export function fromMikroOrm<Entity extends object>(
  entity: EntityName<Entity>,
  ...given: ColumnAndOptions<MikroOrmSourceOptions>
): BloomSourceFactory {
  const [property, all] = columnAndOptions(given);
  const { orm = MikroORM as InjectionToken<MikroORM>, connection = 'write', ...options } = all;
  checkedPaging('fromMikroOrm', options);
  const isOrm = typeof orm === 'object' && 'driver' in orm;
  return madeFrom<MikroORM>(isOrm ? { object: orm } : { token: orm }, async (made) => {
    const { at, ...known } = describe(made, entity as EntityName, { property, connection });
    return fromSql(at, { fromReplica: connection === 'read', ...options, ...known });
  });
}

interface Wanted {
  readonly property: string | undefined;
  readonly connection: 'read' | 'write';
}

function describe(orm: MikroORM, entity: EntityName, { property, connection }: Wanted) {
  const platform = orm.driver.getPlatform();
  const dialect = dialectOf(platform);
  const isPostgres = dialect === 'postgres';
  if (dialect === undefined) throw new BloomConfigError(platformNotRead(platform.constructor.name));
  const metadata = metadataOf(orm, entity);
  const found = columnOf(
    metadata,
    property ?? onlyOf('fromMikroOrm', metadata.className, metadata.primaryKeys),
  );
  const column = found.fieldNames[0]!;
  const at: SqlColumn = {
    maker: 'fromMikroOrm',
    isPostgres,
    ignoresCase: dialect === 'mysql',
    isMySql: dialect === 'mysql',
    isSqlite: dialect === 'sqlite',
    run: (query) =>
      orm.driver
        .getConnection(connection)
        .execute<object[]>(withQuestionMarks(query), query.values as unknown[]),
    table: tableOf(orm, metadata)
      .map((name) => platform.quoteIdentifier(name))
      .join('.'),
    column,
    quote: (name) => platform.quoteIdentifier(name),
    isKeyDefined: true,
    ...(hasOwnType(found) && {
      convert: (value) => found.customType!.convertToJSValue(value, platform) as BloomId,
    }),
  };
  const key = isUnique(metadata, found)
    ? [column]
    : metadata.primaryKeys.flatMap((name) => metadata.properties[name]!.fieldNames);
  return { at, key, type: found.columnTypes[0]! };
}

/**
 * By the SQL that it writes, since the names of classes change in a bundle. Undefined for one that is not
 * known.
 */
function dialectOf(platform: Platform): 'postgres' | 'mysql' | 'sqlite' | undefined {
  if (platform.getBigIntTypeDeclarationSQL({ autoincrement: true }) === 'bigserial') return 'postgres';
  if (platform.getCurrentTimestampSQL(0).includes('strftime')) return 'sqlite';
  return platform.supportsUnsigned() ? 'mysql' : undefined;
}

function metadataOf(orm: MikroORM, entity: EntityName): EntityMetadata {
  const name =
    'meta' in entity ? (entity.meta as EntityMetadata).className : (entity as { name: string }).name;
  const metadata = orm.getMetadata().find(entity);
  // A schema brings its own, which is empty until a MikroORM knows it.
  if (!metadata || metadata.props.length === 0) {
    throw new BloomConfigError(entityNotKnown(name));
  }
  return metadata;
}

/** @throws {BloomConfigError} for what is no single column. */
function columnOf(metadata: EntityMetadata, property: string): EntityProperty {
  const isColumn = (one: EntityProperty) =>
    one.kind === ReferenceKind.SCALAR &&
    one.persist !== false &&
    !one.formula &&
    one.fieldNames?.length === 1;
  const found = metadata.props.find(({ name }) => name === property);
  if (found && isColumn(found)) return found;
  const names = metadata.props
    .filter(isColumn)
    .map(({ name }) => name)
    .join(', ');
  throw new BloomConfigError(noSuchColumn('fromMikroOrm', metadata.className, property, names));
}

function tableOf(orm: MikroORM, { schema, tableName }: EntityMetadata): string[] {
  const named =
    schema === undefined || schema === '*' ? (orm.config.get('schema') as string | undefined) : schema;
  return named === undefined ? [tableName] : [named, tableName];
}

function isUnique({ primaryKeys, uniques }: EntityMetadata, { name, unique }: EntityProperty): boolean {
  const isAlone = (names: readonly string[]) => names.length === 1 && names[0] === name;
  return (
    isAlone(primaryKeys) ||
    Boolean(unique) ||
    uniques.some(
      ({ properties = [], where, expression }) =>
        !where && !expression && isAlone([properties].flat() as string[]),
    )
  );
}

/** A type of the application makes of the stored value what is looked up. */
function hasOwnType({ customType }: EntityProperty): boolean {
  return customType !== undefined && !Object.values<unknown>(types).includes(customType.constructor);
}
