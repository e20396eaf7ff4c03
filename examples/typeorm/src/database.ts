import { AbstractLogger, type DataSourceOptions } from 'typeorm';
import { Product } from './product.entity.js';

/** Keeps the queries, so that the e2e script sees what reached the database. */
export class QueryLog extends AbstractLogger {
  readonly queries: string[] = [];

  override logQuery(query: string): void {
    this.queries.push(query);
  }

  protected override writeLog(): void {}
}

export const queryLog = new QueryLog();

export const database: DataSourceOptions = {
  type: 'postgres',
  url: process.env.DATABASE_URL ?? 'postgres://localhost:5432/shop',
  entities: [Product],
  synchronize: true,
  logger: queryLog,
};
