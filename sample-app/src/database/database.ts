import { PGlite } from '@electric-sql/pglite';
import type { OnApplicationShutdown } from '@nestjs/common';
import { type Logger, sql } from 'drizzle-orm';
import { drizzle as drizzleServer } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core';
import { drizzle as drizzleEmbedded } from 'drizzle-orm/pglite';
import pg from 'pg';
import type { ShopStatistics } from '../statistics/shop-statistics.js';
import { createMissingTables } from './schema.js';

export type Orm = PgDatabase<PgQueryResultHKT>;

/** The token of an `Orm` for sources of filters, whose readings are not counted. */
export const SOURCE_ORM = Symbol('SOURCE_ORM');

/** Instances that start at the same time must not create the tables at the same time. */
const TABLES_LOCK = 7_266_021;

/** Postgres: a server, or embedded in this process and gone with it. */
export class Database implements OnApplicationShutdown {
  constructor(
    readonly orm: Orm,
    /** The same database; its queries are not counted. */
    readonly sourceOrm: Orm,
    private readonly close: () => Promise<void>,
  ) {}

  static async open(options: { url?: string | undefined; statistics: ShopStatistics }): Promise<Database> {
    const logger = countQueries(options.statistics);
    const database = options.url ? openServer(options.url, logger) : await openEmbedded(logger);
    try {
      await database.createMissingTables();
      return database;
    } catch (error) {
      await database.close();
      throw options.url ? unreachable(options.url, error) : error;
    }

    async function openEmbedded(logger: Logger): Promise<Database> {
      const client = await PGlite.create();
      return new Database(drizzleEmbedded({ client, logger }), drizzleEmbedded({ client }), () =>
        client.close(),
      );
    }

    function openServer(url: string, logger: Logger): Database {
      const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5_000 });
      // An idle connection that the server ends is replaced by the pool; without a listener it would end the
      // process.
      pool.on('error', () => {});
      return new Database(drizzleServer({ client: pool, logger }), drizzleServer({ client: pool }), () =>
        pool.end(),
      );
    }
  }

  /** Not `onModuleDestroy`: requests under way still need the database. */
  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private async createMissingTables(): Promise<void> {
    await this.orm.transaction(async (transaction) => {
      await transaction.execute(sql`select pg_advisory_xact_lock(${TABLES_LOCK})`);
      for (const statement of createMissingTables) await transaction.execute(statement);
    });
  }
}

function countQueries(statistics: ShopStatistics): Logger {
  return { logQuery: () => void statistics.databaseQueries++ };
}

function unreachable(url: string, error: unknown): Error {
  const host = URL.canParse(url) ? new URL(url).host : 'the given address';
  const reason = (error as Error).cause ?? error;
  return new Error(
    `Expected a Postgres server at ${host} (DATABASE_URL) that lets the shop create its tables, got: ` +
      `${reason instanceof AggregateError ? reason.errors.join('; ') : String(reason)}`,
    { cause: error },
  );
}
