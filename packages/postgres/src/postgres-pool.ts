import type { Duplex } from 'node:stream';

/** What is used of a connection of `pg`, beneath its queries. */
export interface PostgresConnection {
  readonly stream: Duplex;
  query(text: string): void;
}

/** A query that reads the messages of the server itself, as `pg` takes it. */
export interface PostgresSubmittable {
  submit(connection: PostgresConnection): void;
}

/** What is used of a client of `pg`. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  query<Query extends PostgresSubmittable>(query: Query): Query;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  release(error?: Error | boolean): void;
}

/** What is used of a `Pool` of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}
