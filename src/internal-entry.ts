/**
 * For `@nestjs-bloom/interop` and `@nestjs-bloom/cli` alone: the machinery of filters in Redis and in memory.
 * It may change with each version.
 *
 * @module
 */
export {
  checkOptions,
  count,
  describeError,
  escaped,
  type Expectation,
  instantiate,
  isInteger,
  isText,
  oneOf,
  type OptionNames,
  type OptionTable,
  plural,
  printed,
  TRUE_OR_FALSE,
  type WasmExports,
  withHelp,
} from './common/index.js';
export {
  anyError,
  assertNotTooLong,
  checkInteger,
  checkTarget,
  countBits,
  falsePositiveRate,
  type FilterLayout,
  MAX_BLOCKS,
  MAX_ID_BYTES_LIMIT,
  measuredFill,
  measuredFillOf,
  MIN_ERROR_RATE,
  namedNormalizer,
  NORMALIZERS,
  partOf,
  planBlocked,
  sampledBlocks,
  stackFillRatio,
  tooLong,
  wrongErrorRate,
} from './filter/index.js';
export type {
  BoardContents,
  BoardMode,
  BoardNews,
  LeaseServer,
  EndedRun,
  InstanceBeat,
  InstanceBoard,
  KnownVerdict,
  SharedNegativeCache,
} from './store/index.js';
export {
  type InMemoryFilter,
  type InMemoryScan,
  type MemoryLayout,
  StoredFilterInMemory,
} from './store/memory/index.js';
export * from './store/redis/index.js';
