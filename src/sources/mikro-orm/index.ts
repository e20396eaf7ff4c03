export type { BloomId } from '../../filter/index.js';
export type { BloomIdsContext, BloomIdSource, BloomIdSpelling } from '../../rebuild/index.js';
export type { BloomIdProperty, BloomPagingOptions, BloomSourceFactory, BloomTableOptions } from '../index.js';
export { fromMikroOrm, type MikroOrmProperty, type MikroOrmSourceOptions } from './from-mikro-orm.js';
