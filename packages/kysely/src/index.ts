export { fromKysely, type KyselyColumn, type KyselySourceOptions, type KyselyTable } from './from-kysely.js';
