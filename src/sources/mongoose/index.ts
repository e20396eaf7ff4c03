export type { BloomId } from '../../filter/index.js';
export type { BloomGuardRunner } from '../../guard/index.js';
export type {
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMark,
  BloomMarkedIds,
} from '../../rebuild/index.js';
export type { BloomPagingOptions, BloomSourceFactory } from '../index.js';
export {
  bloomMongoosePlugin,
  type MongooseRegistersOptions,
  type MongooseSchemaLike,
} from './bloom-mongoose-plugin.js';
export {
  fromMongoose,
  type MongooseModelLike,
  type MongoosePathName,
  type MongooseSourceOptions,
} from './from-mongoose.js';
