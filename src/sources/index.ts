export {
  type BloomIdProperty,
  type BloomPagesOptions,
  type BloomPagingOptions,
  checkedPaging,
  fromPages,
} from './from-pages.js';
export type { BloomNewPagesOptions } from './from-pages.js';
export { type BloomParallelOptions, type BloomParallelSource, inParallel } from './in-parallel.js';
export type { BloomPageContext, BloomPageFunction } from './page-reader.js';
export { type BloomRange, rangesOf } from './in-parallel.js';
export { type AllRowsOptions, type BloomTableOptions, expectAllRows } from './postgres-catalog.js';
export type { BloomSourceFactory } from './source-factory.js';
export { columnName } from './column-spelling.js';
export { type DescribedColumn, isBytes, isReadAsText, spellingOf } from './column-spelling.js';
export { type CatalogColumn, hasKey, onlyOf, primaryKeyOf, readCatalog } from './postgres-catalog.js';
export { collationOf } from './sql-query.js';
export { exactPlace } from './page-query.js';
export { type EstimatedColumn, estimateIds, type RunQuery } from './postgres-catalog.js';
export { columnAndOptions, type ColumnAndOptions, madeFrom } from './source-factory.js';
export { noSuchColumn } from './sources.messages.js';
export type { BloomIdKind, BloomOrderOptions } from './id-order.js';
export type { SqlColumn, SqlTable } from './sql-query.js';
export { fromSql, newRowsOfTable, type SqlSourceOptions } from './sql-table.js';
export { type RunSql, type SqlQuery, withNumbers, withQuestionMarks } from './sql-query.js';
