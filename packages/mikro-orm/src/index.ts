export { fromMikroOrm, type MikroOrmProperty, type MikroOrmSourceOptions } from './from-mikro-orm.js';
