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
  SqlSourceOptions,
} from '../index.js';
export { fromKysely, type KyselyColumn, type KyselySourceOptions } from './from-kysely.js';
