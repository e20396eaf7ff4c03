export type { BloomId } from '../../filter/index.js';
export type { BloomIdsContext, BloomIdSource, BloomIdSpelling } from '../../rebuild/index.js';
export type { BloomPagingOptions, BloomSourceFactory, BloomTableOptions } from '../index.js';
export { type DrizzleDatabase, type DrizzleSourceOptions, fromDrizzle } from './from-drizzle.js';
