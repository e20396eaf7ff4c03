/**
 * For packages of nestjs-bloom that read the ids of a table with a library of its own, such as
 * `@nestjs-bloom/typeorm`. Applications find all they need in `nestjs-bloom`; what is here may change with
 * each version.
 *
 * @module
 */
export {
  type Clock,
  count,
  instantiateIfPossible,
  plural,
  printed,
  systemClock,
  type WasmExports,
} from './common/index.js';
export type { BloomId, IdKey } from './filter/index.js';
export {
  type BloomCallback,
  type BloomCoalesceOptions,
  type BloomGuardDefaults,
  type BloomGuardedOptions,
  type BloomGuardRunner,
  type FunctionGuard,
  guardFunction,
  type IdRegistrar,
  type RegisterRequest,
  type Registration,
  registrarOf,
} from './guard/index.js';
export {
  type BloomIdsContext,
  type BloomIdSource,
  type BloomIdSpelling,
  type BloomMark,
  type BloomMarkedIds,
  type PackableIds,
  packableIds,
  type PackedIds,
} from './rebuild/index.js';
export {
  type AllRowsOptions,
  type BloomIdProperty,
  type BloomNewPagesOptions,
  type BloomOrderOptions,
  type BloomPageContext,
  type BloomPageFunction,
  type BloomPagesOptions,
  type BloomPagingOptions,
  type BloomSourceFactory,
  type BloomTableOptions,
  type CatalogColumn,
  checkedPaging,
  collationOf,
  columnName,
  type DescribedColumn,
  type EstimatedColumn,
  estimateIds,
  exactPlace,
  expectAllRows,
  fromPages,
  fromSql,
  hasKey,
  isBytes,
  isReadAsText,
  madeFrom,
  newRowsOfTable,
  noSuchColumn,
  readCatalog,
  type RunQuery,
  type RunSql,
  spellingOf,
  type SqlColumn,
  type SqlQuery,
  type SqlSourceOptions,
  withNumbers,
  withQuestionMarks,
} from './sources/index.js';
