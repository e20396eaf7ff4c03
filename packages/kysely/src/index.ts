export { fromKysely, type KyselyColumn, type KyselySourceOptions } from './from-kysely.js';
