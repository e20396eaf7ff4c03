export { fromKnex, type KnexColumn, type KnexSourceOptions } from './from-knex.js';
