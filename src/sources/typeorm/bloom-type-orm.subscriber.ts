import type { FactoryProvider, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
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
import { BloomConfigError } from '../../common/index.js';
import type { BloomId } from '../../filter/index.js';
import { BloomGuardRunner, type Registration } from '../../guard/index.js';
import { providedDataSource, type WithDataSource } from './data-source.js';
import { columnOf } from './described-table.js';
import type { TypeOrmColumn } from './from-type-orm.js';

type Column = ReturnType<typeof columnOf>['column'];

/** Of `BloomTypeOrmSubscriber.provide`. */
export interface TypeOrmRegistersOptions extends WithDataSource {
  /** The name of the filter. */
  readonly filter: string;
  /** For ids that cannot be recorded. Default `'throw'`: nothing is written. `'queue'`: as of `@BloomRegisters`. */
  readonly onError?: 'throw' | 'queue';
}

/** What one subscriber registers. */
interface Registered {
  readonly dataSource: DataSource;
  readonly runner: BloomGuardRunner;
  readonly entity: EntitySchema<ObjectLiteral>;
  readonly property: string;
  readonly filter: string;
  readonly onError: TypeOrmRegistersOptions['onError'];
}

interface Written {
  readonly id: BloomId;
  readonly registration: Registration;
}

/**
 * Records the ids of all rows that TypeORM writes: an id is added before the statement is sent, so it is there before the
 * row can be seen. An add that fails fails the statement, unless `onError: 'queue'`.
 */
export class BloomTypeOrmSubscriber
  implements EntitySubscriberInterface, OnModuleInit, OnApplicationShutdown
{
  private readonly target: Function | string;
  private readonly column: Column;
  /** By the object that is written. */
  private readonly written = new WeakMap<ObjectLiteral, Written>();
  /** Of rows that are not yet committed. */
  private readonly uncommitted = new WeakMap<QueryRunner, Registration[]>();

  private constructor(private readonly registered: Registered) {
    const { dataSource, entity, property } = registered;
    const { metadata, column } = columnOf(dataSource, entity, { maker: 'BloomTypeOrmSubscriber', property });
    this.target = metadata.target;
    this.column = column;
  }

  /**
   * A provider that records all values of one property of an entity, in any module of the application.
   *
   * @example
   * providers: [BloomTypeOrmSubscriber.provide(Product, 'sku', { filter: 'products' })],
   *
   * @throws {BloomConfigError} at the start of the application, when the DataSource, the entity, the column or the filter is not there.
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
          runner,
          dataSource: 'object' in provided ? provided.object : made!,
        }),
    };
  }

  /** @internal */
  async onModuleInit(): Promise<void> {
    // Throws where there is no such filter.
    await this.register([]);
    this.registered.dataSource.subscribers.push(this);
  }

  /** @internal */
  onApplicationShutdown(): void {
    const { subscribers } = this.registered.dataSource;
    if (subscribers.includes(this)) subscribers.splice(subscribers.indexOf(this), 1);
  }

  /** @internal */
  listenTo(): Function | string {
    return this.target;
  }

  /** @internal */
  async beforeInsert({ entity }: InsertEvent<ObjectLiteral>): Promise<void> {
    await this.registerIn(entity);
  }

  /** @internal A value that the database made, or that a listener set after this one, is known by now. */
  async afterInsert({ entity, queryRunner }: InsertEvent<ObjectLiteral>): Promise<void> {
    const id = this.idIn(entity);
    if (id === undefined) throw new BloomConfigError(this.unseen('what the database made is not read back'));
    if (id !== this.written.get(entity)?.id) await this.registerIn(entity);
    await this.noteWritten(entity, queryRunner);
  }

  /** @internal */
  async beforeUpdate({ entity, updatedColumns }: UpdateEvent<ObjectLiteral>): Promise<void> {
    if (!entity || (updatedColumns.length > 0 && !updatedColumns.includes(this.column))) return;
    await this.registerIn(entity);
  }

  /** @internal A value that a listener set after this one is known by now. */
  async afterUpdate(event: UpdateEvent<ObjectLiteral>): Promise<void> {
    const { entity, databaseEntity, updatedColumns, queryRunner } = event;
    if (!entity) return;
    const isUnchanged = updatedColumns.length > 0 && !updatedColumns.includes(this.column);
    const known =
      this.written.get(entity)?.id ?? (isUnchanged ? this.column.getEntityValue(databaseEntity) : null);
    if (this.idIn(entity) !== known) await this.registerIn(entity);
    await this.noteWritten(entity, queryRunner);
  }

  /** @internal */
  async afterTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const registrations = this.uncommitted.get(queryRunner);
    // A savepoint that is released leaves the transaction open.
    if (!registrations || queryRunner.isTransactionActive) return;
    this.uncommitted.delete(queryRunner);
    await Promise.all(registrations.map((one) => this.registered.runner.registrar.registerAgain(one)));
  }

  /** @internal */
  afterTransactionRollback({ queryRunner }: TransactionRollbackEvent): void {
    if (!queryRunner.isTransactionActive) this.uncommitted.delete(queryRunner);
  }

  private async registerIn(entity: ObjectLiteral): Promise<void> {
    const id = this.idIn(entity);
    if (id === null || id === undefined) return;
    this.written.set(entity, { id, registration: await this.register([id]) });
  }

  /** When the row can be seen, an id whose add a rebuild may have missed is added once more. */
  private async noteWritten(entity: ObjectLiteral, queryRunner: QueryRunner): Promise<void> {
    const registration = this.written.get(entity)?.registration;
    if (!registration) return;
    this.written.delete(entity);
    if (!queryRunner.isTransactionActive) {
      await this.registered.runner.registrar.registerAgain(registration);
      return;
    }
    const open = this.uncommitted.get(queryRunner);
    if (open) open.push(registration);
    else this.uncommitted.set(queryRunner, [registration]);
  }

  private register(ids: readonly BloomId[]): Promise<Registration> {
    const { runner, filter, onError } = this.registered;
    return runner.registrar.register({ filter, ids, onError });
  }

  /** Undefined where the database makes it. */
  private idIn(entity: ObjectLiteral): BloomId | null | undefined {
    const id: unknown = this.column.getEntityValue(entity);
    if (typeof id === 'function') throw new BloomConfigError(this.unseen('it is an SQL expression'));
    return id as BloomId | null | undefined;
  }

  private unseen(why: string): string {
    const { filter, property } = this.registered;
    return (
      `BloomTypeOrmSubscriber cannot record the id of a row in filter '${filter}': ${this.column.entityMetadata.name}.${property} is not ` +
      `known, since ${why}. Give the value itself, or call filter.add(id) and write with callListeners(false).`
    );
  }
}
