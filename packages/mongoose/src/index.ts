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
