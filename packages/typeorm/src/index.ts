export { BloomTypeOrmSubscriber, type TypeOrmRegistersOptions } from './bloom-type-orm.subscriber.js';
export type { WithDataSource } from './data-source.js';
export {
  fromTypeOrm,
  type TypeOrmColumn,
  type TypeOrmEntity,
  type TypeOrmSourceOptions,
} from './from-type-orm.js';
