export { postgresCopy, type PostgresCopyOptions } from './postgres-copy.js';
export type {
  PostgresClient,
  PostgresConnection,
  PostgresPool,
  PostgresSubmittable,
} from './postgres-pool.js';
