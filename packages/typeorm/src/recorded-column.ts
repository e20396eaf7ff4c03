import type { DataSource, EntitySchema, ObjectLiteral, QueryRunner } from 'typeorm';
import { BloomConfigError, type BloomId } from 'nestjs-bloom';
import { type Column, columnOf, type Metadata, tableName } from './described-table.js';
import { idNotKnown, isAView } from './typeorm.messages.js';

const MAKER = 'BloomTypeOrmSubscriber';
const NOT_READ_BACK = 'what the database made is not read back';
/** Databases that may skip keys between those of one statement, which their driver takes for consecutive. */
const MAY_SKIP_KEYS = ['mysql', 'mariadb', 'aurora-mysql'];

export interface RecordedColumnContext {
  readonly dataSource: DataSource;
  readonly entity: EntitySchema<ObjectLiteral>;
  readonly property: string;
  readonly filter: string;
  readonly isId: (value: unknown) => boolean;
}

/** How an entity maps the table. */
export interface MappedTable {
  readonly metadata: Metadata;
  /** Undefined where the entity leaves the column out. */
  readonly column: Column | undefined;
}

interface AnsweredQuery {
  readonly query: string;
  readonly queryRunner: QueryRunner;
  readonly rawResults?: unknown;
}

/** Rows of one table that were inserted at the same time. */
export interface InsertedRows {
  /** Those without a value of the column. */
  readonly made: readonly ObjectLiteral[];
  /**
   * All rows, if they were one statement; undefined for `save`, which sends one for each row if it has to.
   */
  readonly statement: readonly ObjectLiteral[] | undefined;
  /** The key that the database has made first in that statement, if the driver says so. */
  readonly firstKey: unknown;
  readonly runner: QueryRunner;
}

/** A column whose values are recorded, whichever entity writes them. */
export class RecordedColumn {
  private readonly firstKeys = new WeakMap<QueryRunner, unknown>();
  /** Entities that had a key before they were written. */
  private readonly keyed = new WeakSet<ObjectLiteral>();
  /** Undefined for an entity of other rows. A DataSource that is initialised again has new metadata. */
  private readonly mapped = new WeakMap<Metadata, MappedTable | undefined>();

  /** @throws {BloomConfigError} when there is no such entity or column, and for a view. */
  constructor(private readonly context: RecordedColumnContext) {
    const { metadata } = this.own();
    if (metadata.tableType === 'view') throw new BloomConfigError(isAView(MAKER, metadata.name));
  }

  /** Undefined unless the entity is of rows of the table. */
  in(metadata: Metadata): MappedTable | undefined {
    if (!this.mapped.has(metadata)) this.mapped.set(metadata, this.map(metadata));
    return this.mapped.get(metadata);
  }

  /** The first key that the last statement has made; undefined where only the entities have it. */
  firstKey(runner: QueryRunner): unknown {
    return this.firstKeys.get(runner);
  }

  /** To be called after each query: TypeORM may put keys of other rows into the entities. */
  noteQuery({ query, queryRunner, rawResults }: AnsweredQuery): void {
    const { dataSource } = this.context;
    const { insertId } = (rawResults ?? {}) as { insertId?: unknown };
    if (insertId === undefined || !MAY_SKIP_KEYS.includes(dataSource.options.type)) return;
    if (query.includes(`INTO ${tableName(dataSource, this.own().metadata)}`))
      this.firstKeys.set(queryRunner, insertId);
  }

  /** To be called before the entity is written. */
  noteKey({ metadata }: MappedTable, entity: ObjectLiteral): void {
    const key: unknown = keyOf(metadata)?.getEntityValue(entity);
    if (key !== undefined && key !== null) this.keyed.add(entity);
  }

  /** What the entity has, and what the database makes of that; undefined where it has nothing. */
  idsIn({ column }: MappedTable, entity: ObjectLiteral): BloomId[] | undefined {
    const value: unknown = column?.getEntityValue(entity);
    if (value === undefined) return undefined;
    if (typeof value === 'function') throw this.unknown('it is an SQL expression');
    if (value === null) return [];
    const isStored = !column!.transformer && !this.own().column.transformer;
    if (isStored) return [value as BloomId];
    const { driver } = this.context.dataSource;
    return [value as BloomId, ...this.idsOfStored(driver.preparePersistentValue(value, column!))];
  }

  /** The ids of rows that were inserted without one. */
  async idsMade(mapped: MappedTable, rows: InsertedRows): Promise<BloomId[]> {
    const { metadata, column } = mapped;
    const { made, statement, runner } = rows;
    const isReturned = this.context.dataSource.driver.isReturningSqlSupported('insert');
    if (statement && statement.length > 1 && !isReturned)
      return this.idsOfCounted(mapped, { ...rows, statement });
    const isKnown = isReturned && column && metadata.getInsertionReturningColumns().includes(column);
    const ids = made.map((entity) => this.idsIn(mapped, entity));
    // A row that was there already, which the statement ignores, has none.
    if (isKnown && ids.every((one) => one === undefined)) throw this.unknown(NOT_READ_BACK);
    const missing = isKnown ? [] : made.filter((_, i) => !ids[i]?.length);
    return [...ids.flatMap((one) => one ?? []), ...(await this.readBack(mapped, missing, runner))];
  }

  /** The ids that the database has in these rows. */
  async readBack(
    { metadata }: MappedTable,
    entities: readonly ObjectLiteral[],
    runner: QueryRunner,
  ): Promise<BloomId[]> {
    if (entities.length === 0) return [];
    const keys = entities.flatMap((entity) => metadata.getEntityIdMap(entity) ?? []);
    if (keys.length === 0) throw this.unknown(NOT_READ_BACK);
    const { dataSource } = this.context;
    const { databaseName } = this.own().column;
    const [table, name] = ['row', databaseName].map((one) => dataSource.driver.escape(one));
    const rows = await dataSource
      .createQueryBuilder(metadata.target, 'row', runner)
      .withDeleted()
      .cache(false)
      .select(`${table}.${name}`, 'id')
      .whereInIds(keys)
      .getRawMany<{ id: unknown }>();
    return rows.flatMap(({ id }) => this.idsOfStored(id));
  }

  /** Whether the database computes the column. */
  get isComputed(): boolean {
    return this.own().column.asExpression !== undefined;
  }

  /** @throws {BloomConfigError} when the database computes the column from what an update sets. */
  expectKnown({ metadata }: MappedTable, values: ObjectLiteral): void {
    const { asExpression } = this.own().column;
    if (asExpression === undefined) return;
    const set = metadata.columns.filter((one) => one.getEntityValue(values) !== undefined);
    const text = asExpression.toLowerCase();
    if (set.some(({ databaseName }) => text.includes(databaseName.toLowerCase())))
      throw this.unknown('the database computes it in rows that only conditions name. Use save');
  }

  unknown(why: string): BloomConfigError {
    const { metadata, column } = this.own();
    return new BloomConfigError(
      idNotKnown(MAKER, this.context.filter, `${metadata.name}.${column.propertyPath}`, why),
    );
  }

  private own(): { metadata: Metadata; column: Column } {
    const { dataSource, entity, property } = this.context;
    return columnOf(dataSource, entity, { maker: MAKER, property });
  }

  private map(metadata: Metadata): MappedTable | undefined {
    const own = this.own();
    if (metadata.tablePath !== own.metadata.tablePath) return undefined;
    const isSibling =
      metadata.discriminatorColumn !== undefined &&
      own.metadata.discriminatorColumn !== undefined &&
      !metadata.inheritanceTree.includes(own.metadata.target as Function) &&
      !own.metadata.inheritanceTree.includes(metadata.target as Function);
    if (isSibling) return undefined;
    const { databaseName } = own.column;
    const column = metadata.columns.find(
      (one) => one.databaseName === databaseName && !one.isVirtualProperty,
    );
    return { metadata, column };
  }

  /** What the application reads, and with a transformer also what is stored, if that can be an id. */
  private idsOfStored(stored: unknown): BloomId[] {
    const { dataSource, isId } = this.context;
    const { column } = this.own();
    const read: unknown = column.transformer
      ? dataSource.driver.prepareHydratedValue(stored, column)
      : stored;
    const ids = read === null || read === undefined ? [] : [read as BloomId];
    return column.transformer && isId(stored) ? [...ids, stored as BloomId] : ids;
  }

  /** The database has made the keys one after the other; the driver says the first one at most. */
  private async idsOfCounted(
    mapped: MappedTable,
    { statement, firstKey, runner }: InsertedRows & { readonly statement: readonly ObjectLiteral[] },
  ): Promise<BloomId[]> {
    const { metadata, column } = mapped;
    const key = keyOf(metadata);
    const keyed = key ? statement.filter((entity) => this.keyed.has(entity)).length : statement.length;
    if (!key || keyed === statement.length) return this.readBack(mapped, statement, runner);
    if (firstKey === 0) return [];
    const first: unknown = firstKey ?? key.getEntityValue(statement[0]!);
    const isCounted = (row: ObjectLiteral, i: number) => key.getEntityValue(row) === (first as number) + i;
    const isKnown = firstKey !== undefined || statement.every(isCounted);
    if (!Number.isSafeInteger(first) || keyed > 0 || !isKnown)
      throw this.unknown('a statement of several rows does not return their keys. Write them with save');
    const step = await this.stepOfKeys(runner);
    const keys = statement.map((_, i) => (first as number) + i * step);
    if (column === key) return keys;
    return this.readBack(
      mapped,
      keys.map((one) => key.createValueMap(one)),
      runner,
    );
  }

  private async stepOfKeys(runner: QueryRunner): Promise<number> {
    if (!MAY_SKIP_KEYS.includes(this.context.dataSource.options.type)) return 1;
    const [row] = (await runner.query('select @@auto_increment_increment as step')) as [{ step: unknown }];
    return Number(row.step);
  }
}

/** The column that the database counts. */
function keyOf({ generatedColumns }: Metadata): Column | undefined {
  return generatedColumns.find(({ generationStrategy }) => generationStrategy === 'increment');
}
