export type { BloomId } from '../../filter/index.js';
export type {
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMark,
  BloomMarkedIds,
} from '../../rebuild/index.js';
export type {
  BloomIdProperty,
  BloomOrderOptions,
  BloomPagingOptions,
  BloomSourceFactory,
  BloomTableOptions,
  SqlSourceOptions,
} from '../index.js';
export { fromKnex, type KnexColumn, type KnexSourceOptions } from './from-knex.js';
