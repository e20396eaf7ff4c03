export type { BloomId } from '../../filter/index.js';
export type { BloomIdsContext, BloomIdSource, BloomIdSpelling } from '../../rebuild/index.js';
export type {
  BloomIdProperty,
  BloomPagingOptions,
  BloomSourceFactory,
  BloomTableOptions,
  SqlSourceOptions,
} from '../index.js';
export { fromKnex, type KnexColumn, type KnexSourceOptions } from './from-knex.js';
