export {
  type BloomIdProperty,
  type BloomPagesOptions,
  type BloomPagingOptions,
  checkedPaging,
  fromPages,
} from './from-pages.js';
export type { BloomNewPagesOptions } from './new-pages.js';
export { type BloomParallelOptions, type BloomParallelSource, inParallel } from './in-parallel.js';
export type { BloomPageContext, BloomPageFunction } from './page-reader.js';
export { type BloomRange, rangesOf } from './ranges-of.js';
export { type AllRowsOptions, type BloomTableOptions, expectAllRows } from './all-rows.js';
export type { BloomSourceFactory } from './source-factory.js';
export { columnName } from './column-name.js';
export { type DescribedColumn, isBytes, isReadAsText, spellingOf } from './column-spelling.js';
export { type CatalogColumn, hasKey, readCatalog } from './postgres-catalog.js';
export { collationOf } from './mysql-collation.js';
export { exactPlace } from './exact-place.js';
export { type EstimatedColumn, estimateIds, type RunQuery } from './planner-estimate.js';
export { madeFrom } from './providers.js';
export { noSuchColumn } from './sources.messages.js';
export type { BloomOrderOptions } from './new-rows.js';
export type { SqlColumn } from './sql-column.js';
export { fromSql, newRowsOfTable, type SqlSourceOptions } from './sql-table.js';
export { type RunSql, type SqlQuery, withNumbers, withQuestionMarks } from './sql-query.js';
