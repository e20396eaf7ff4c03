import type { FactoryProvider, OnModuleInit } from '@nestjs/common';
import {
  DataSource,
  type EntitySchema,
  type EntitySubscriberInterface,
  type InsertEvent,
  type ObjectLiteral,
  type QueryRunner,
  type TransactionCommitEvent,
  type TransactionRollbackEvent,
  type UpdateEvent,
} from 'typeorm';
import { BloomGuardRunner, type BloomId } from 'nestjs-bloom';
import { type IdRegistrar, registrarOf, type Registration } from 'nestjs-bloom/sources';
import { providedDataSource, subscribe, type WithDataSource } from './data-source.js';
import type { TypeOrmColumn } from './from-type-orm.js';
import { type MappedTable, RecordedColumn } from './recorded-column.js';
import { StatementRows } from './statement-rows.js';

/** Options of `BloomTypeOrmSubscriber.provide`. */
export interface TypeOrmRegistersOptions extends WithDataSource {
  /** The name of the filter. */
  readonly filter: string;
  /**
   * For ids that cannot be recorded. Default `'throw'`: nothing is written. `'queue'`: as of
   * `@BloomRegisters`.
   */
  readonly onError?: 'throw' | 'queue';
}

/** What one subscriber registers. */
interface Registered {
  readonly dataSource: DataSource;
  readonly registrar: IdRegistrar;
  readonly entity: EntitySchema<ObjectLiteral>;
  readonly property: string;
  readonly filter: string;
  readonly onError: TypeOrmRegistersOptions['onError'];
}

type QueryEvent = Parameters<NonNullable<EntitySubscriberInterface['afterQuery']>>[0];

interface Row extends MappedTable {
  readonly entity: ObjectLiteral;
  /** It is one of a statement of the query builder, `insert`, `upsert` or `update`, and not of `save`. */
  readonly isStatement: boolean;
  /** As of `InsertedRows`. */
  readonly firstKey?: unknown;
}

/**
 * Records the ids of all rows that TypeORM writes: an id is added before the statement is sent, so it is
 * there before the row can be seen. An add that fails fails the statement, unless `onError: 'queue'`.
 */
export class BloomTypeOrmSubscriber implements EntitySubscriberInterface, OnModuleInit {
  private readonly column: RecordedColumn;
  private readonly leave: () => void;
  /** What was added before a row was written, by its object; undefined for a row that has null. */
  private readonly recorded = new WeakMap<ObjectLiteral, Registration | undefined>();
  /** Ids of rows that are not yet committed. */
  private readonly uncommitted = new WeakMap<QueryRunner, Registration[]>();
  private readonly unwritten = new StatementRows<Row>((rows) => this.record(rows));
  private readonly inserted = new StatementRows<Row>((rows, runner) => this.noteInserted(rows, runner));
  private readonly updated = new StatementRows<Row>((rows, runner) => this.noteUpdated(rows, runner));

  private constructor(private readonly registered: Registered) {
    const { dataSource, registrar, filter } = registered;
    this.column = new RecordedColumn({ ...registered, isId: (value) => registrar.isId(filter, value) });
    // Modules write rows in their first hooks and in their last ones, so it listens until the filters close.
    this.leave = subscribe(dataSource, this);
  }

  /**
   * A provider that records all values of one property of an entity, in any module of the application.
   *
   * @example
   * providers: [BloomTypeOrmSubscriber.provide(Product, 'sku', { filter: 'products' })],
   *
   * @throws {BloomConfigError} at the start of the application, when the DataSource, the entity, the column
   * or the filter is not there.
   */
  static provide<Entity extends ObjectLiteral>(
    entity: (abstract new (...args: never[]) => Entity) | EntitySchema<Entity>,
    column: TypeOrmColumn<Entity>,
    { dataSource = DataSource, filter, onError }: TypeOrmRegistersOptions,
  ): FactoryProvider<BloomTypeOrmSubscriber> {
    const provided = providedDataSource(dataSource);
    const of = { entity: entity as EntitySchema<ObjectLiteral>, property: column, filter, onError };
    return {
      provide: Symbol(`BloomTypeOrmSubscriber of ${filter}`),
      inject: [BloomGuardRunner, ...('token' in provided ? [provided.token] : [])],
      useFactory: (runner: BloomGuardRunner, made?: DataSource) =>
        new BloomTypeOrmSubscriber({
          ...of,
          registrar: registrarOf(runner, filter),
          dataSource: 'object' in provided ? provided.object : made!,
        }),
    };
  }

  /** @internal */
  async onModuleInit(): Promise<void> {
    try {
      // Throws where there is no such filter.
      await this.register([]);
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** @internal */
  async beforeInsert(event: InsertEvent<ObjectLiteral>): Promise<void> {
    const row = this.rowOf(event, true);
    if (!row) return;
    if (!event.entity)
      throw this.column.unknown('it is written with no entity, as in a table that joins two others');
    await this.unwritten.take(event.queryRunner, row);
  }

  /** @internal A value that the database made, or that a listener set after this one, is known by now. */
  async afterInsert(event: InsertEvent<ObjectLiteral>): Promise<void> {
    // Only `save` names the key of a row.
    const row = this.rowOf(event, event.entityId === undefined);
    if (!row) return;
    // Another subscriber may insert rows before it is its turn.
    await this.inserted.take(event.queryRunner, {
      ...row,
      firstKey: this.column.firstKey(event.queryRunner),
    });
  }

  /** @internal */
  afterQuery(event: QueryEvent): void {
    this.column.noteQuery(event);
  }

  /** @internal */
  async beforeUpdate(event: UpdateEvent<ObjectLiteral>): Promise<void> {
    const { entity, databaseEntity, queryRunner } = event;
    const row = this.rowOf(event, !databaseEntity);
    if (!row) return;
    if (!entity && row.column?.relationMetadata)
      throw this.column.unknown('it is set from the other side of its relation');
    if (!entity || isUntouched(event, row)) return;
    if (row.isStatement) this.column.expectKnown(row, entity);
    await this.unwritten.take(queryRunner, row);
  }

  /** @internal A value that the database made, or that a listener set after this one, is known by now. */
  async afterUpdate(event: UpdateEvent<ObjectLiteral>): Promise<void> {
    const { entity, databaseEntity, queryRunner } = event;
    const row = entity && this.rowOf(event, !databaseEntity);
    if (!row) return;
    const isAsBefore =
      !this.recorded.has(entity) &&
      !this.column.isComputed &&
      row.column?.getEntityValue(entity) === row.column?.getEntityValue(databaseEntity);
    if (!isAsBefore) await this.updated.take(queryRunner, row);
  }

  /** @internal */
  async afterTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const registrations = this.uncommitted.get(queryRunner);
    // A savepoint that is released leaves the transaction open.
    if (!registrations || queryRunner.isTransactionActive) return;
    this.uncommitted.delete(queryRunner);
    await this.registerAgain(registrations);
  }

  /** @internal */
  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    if (!queryRunner.isTransactionActive) this.uncommitted.delete(queryRunner);
  }

  /** Undefined for rows of other tables, and when the application has ended. */
  private rowOf(
    { entity, metadata }: InsertEvent<ObjectLiteral> | UpdateEvent<ObjectLiteral>,
    isStatement: boolean,
  ): Row | undefined {
    if (this.registered.registrar.isClosed) {
      this.leave();
      return undefined;
    }
    const mapped = this.column.in(metadata);
    return mapped && { ...mapped, entity: entity!, isStatement };
  }

  private async record(rows: readonly Row[]): Promise<void> {
    for (const row of rows) this.column.noteKey(row, row.entity);
    const ids = rows.map((row) => this.column.idsIn(row, row.entity));
    const all = ids.flatMap((one) => one ?? []);
    const registration = all.length > 0 ? await this.register(all) : undefined;
    rows.forEach(({ entity }, i) => {
      const own = ids[i];
      if (own) this.recorded.set(entity, own.length > 0 ? registration : undefined);
    });
  }

  private async noteInserted(rows: readonly Row[], runner: QueryRunner): Promise<void> {
    const entities = rows.map(({ entity }) => entity);
    const made = entities.filter((entity) => !this.recorded.has(entity));
    const [{ isStatement, firstKey }] = rows as [Row];
    const statement = isStatement ? entities : undefined;
    const ids =
      made.length > 0 ? await this.column.idsMade(rows[0]!, { made, statement, firstKey, runner }) : [];
    const given = made.length > 0 ? rows.filter(({ entity }) => this.recorded.has(entity)) : rows;
    await this.noteWritten(given, ids, runner);
  }

  private async noteUpdated(rows: readonly Row[], runner: QueryRunner): Promise<void> {
    const saved = rows.filter(({ isStatement }) => !isStatement).map(({ entity }) => entity);
    const ids = this.column.isComputed ? await this.column.readBack(rows[0]!, saved, runner) : [];
    await this.noteWritten(rows, ids, runner);
  }

  /**
   * Compares what was written with what was recorded before, and records what was not known then. When a row
   * can be seen, an id whose add a rebuild may have missed is added once more.
   */
  private async noteWritten(
    rows: readonly Row[],
    made: readonly BloomId[],
    runner: QueryRunner,
  ): Promise<void> {
    const { registrar } = this.registered;
    const late = [...made];
    const written = new Map<Registration, BloomId[]>();
    for (const row of rows) {
      const registration = this.recorded.get(row.entity);
      this.recorded.delete(row.entity);
      const ids = registration ? written.get(registration) : late;
      const now = this.column.idsIn(row, row.entity) ?? [];
      if (ids) ids.push(...now);
      else written.set(registration!, now);
    }
    const registrations = late.length > 0 ? [await this.register(late)] : [];
    for (const [registration, ids] of written)
      registrations.push(
        await registrar.registerWritten(registration, ids, `The entity ${rows[0]!.metadata.name}`),
      );
    if (!runner.isTransactionActive) return this.registerAgain(registrations);
    const open = this.uncommitted.get(runner);
    if (open) open.push(...registrations);
    else this.uncommitted.set(runner, registrations);
  }

  private register(ids: readonly BloomId[]): Promise<Registration> {
    const { registrar, filter, onError } = this.registered;
    return registrar.register({ filter, ids, onError });
  }

  private async registerAgain(registrations: readonly Registration[]): Promise<void> {
    const { registrar } = this.registered;
    await Promise.all(registrations.map((one) => registrar.registerAgain(one)));
  }
}

/** Whether neither the column nor a relation that sets it is written. */
function isUntouched(
  { updatedColumns, updatedRelations }: UpdateEvent<ObjectLiteral>,
  { column }: MappedTable,
): boolean {
  const written = [...updatedColumns, ...updatedRelations.flatMap(({ joinColumns }) => joinColumns)];
  return written.length > 0 && !written.some((one) => one === column);
}
