import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type BloomFilter, BloomModule, BloomService } from 'nestjs-bloom';
import { DataSource, EntitySchema, type EntitySubscriberInterface, type Logger } from 'typeorm';
import { BloomTypeOrmSubscriber, fromTypeOrm } from '@nestjs-bloom/typeorm';
import { DRAIN_MS, PATIENT_TIMEOUT_MS } from './timings.js';

export interface Kind {
  name: string;
}

const FILTER = 'kinds';
const QUIET: Logger = {
  logQuery() {},
  logQueryError() {},
  logQuerySlow() {},
  logSchemaBuild() {},
  logMigration() {},
  log() {},
};

const Kinds = new EntitySchema<Kind>({
  name: 'Kind',
  tableName: 'kinds',
  columns: { name: { type: 'text', primary: true } },
});

export interface WrittenShopOptions {
  readonly redisUrl: string;
  readonly databaseUrl: string;
  /** Called with each statement, before it is sent. */
  readonly onQuery?: (query: string) => void;
  /** Called after the subscriber that records ids. */
  readonly subscriber?: EntitySubscriberInterface;
}

/** An application whose rows are in Postgres: TypeORM writes them, and a subscriber records their ids. */
export class WrittenShop {
  private constructor(
    private readonly app: INestApplicationContext,
    readonly dataSource: DataSource,
  ) {}

  static async start({
    redisUrl,
    databaseUrl,
    onQuery,
    subscriber,
  }: WrittenShopOptions): Promise<WrittenShop> {
    const dataSource = await new DataSource({
      type: 'postgres',
      url: databaseUrl,
      entities: [Kinds],
      logger: { ...QUIET, logQuery: (query) => onQuery?.(query) },
    }).initialize();
    const app = await Test.createTestingModule({
      imports: [
        BloomModule.forRoot({
          redis: redisUrl,
          timeoutMs: PATIENT_TIMEOUT_MS,
          writeTimeoutMs: PATIENT_TIMEOUT_MS,
          owner: 'written',
          logger: false,
          filters: [
            {
              name: FILTER,
              capacity: 1000,
              errorRate: 1e-6,
              source: fromTypeOrm(Kinds, 'name', { dataSource }),
              rebuild: { drainMs: DRAIN_MS, onBoot: 'never' },
            },
          ],
        }),
      ],
      providers: [BloomTypeOrmSubscriber.provide(Kinds, 'name', { dataSource, filter: FILTER })],
    }).compile();
    await app.init();
    if (subscriber) dataSource.subscribers.push(subscriber);
    return new WrittenShop(app, dataSource);
  }

  get filter(): BloomFilter {
    return this.app.get(BloomService, { strict: false }).filter(FILTER);
  }

  async write(name: string): Promise<void> {
    await this.dataSource.getRepository(Kinds).insert({ name });
  }

  /** The same in a transaction; `beforeCommit` runs when the row is written and nobody sees it. */
  async writeSlowly(name: string, beforeCommit: () => Promise<void>): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.getRepository(Kinds).insert({ name });
      await beforeCommit();
    });
  }

  async rows(): Promise<string[]> {
    const rows = await this.dataSource.getRepository(Kinds).find();
    return rows.map(({ name }) => name);
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.dataSource.destroy();
  }
}
