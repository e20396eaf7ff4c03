export { fromTypeOrm, type TypeOrmColumn, type TypeOrmSourceOptions } from './from-type-orm.js';
