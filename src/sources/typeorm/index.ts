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
export { BloomTypeOrmSubscriber, type TypeOrmRegistersOptions } from './bloom-type-orm.subscriber.js';
export type { WithDataSource } from './data-source.js';
export { fromTypeOrm, type TypeOrmColumn, type TypeOrmSourceOptions } from './from-type-orm.js';
