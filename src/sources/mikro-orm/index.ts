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
} from '../index.js';
export { fromMikroOrm, type MikroOrmProperty, type MikroOrmSourceOptions } from './from-mikro-orm.js';
