export type { BloomId } from '../../filter/index.js';
export type {
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMark,
  BloomMarkedIds,
} from '../../rebuild/index.js';
export type {
  BloomOrderOptions,
  BloomPagingOptions,
  BloomSourceFactory,
  BloomTableOptions,
} from '../index.js';
export { postgresCopy, type PostgresCopyOptions } from './postgres-copy.js';
export type {
  PostgresClient,
  PostgresConnection,
  PostgresPool,
  PostgresSubmittable,
} from './postgres-pool.js';
