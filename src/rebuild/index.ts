export { rebuildError } from './failure.js';
export {
  arePacked,
  openedLater,
  type Pack,
  type PackableIds,
  packableIds,
  packedTogether,
  type PackedIds,
  unpackId,
} from './packed-ids.js';
export { IdSample } from './id-sample.js';
export type { RebuildJob, RebuildRequest } from './rebuild-job.js';
export type { BloomRebuildOptions, BloomRebuildReport } from './report.js';
export { rowsThere } from './rows-there.js';
export { runRebuild } from './run-rebuild.js';
export type {
  BloomIdOrder,
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMarkedIds,
  BloomNoIdOrder,
  BloomOpenTransactions,
} from './source.js';
export { expectAsync } from './source.js';
export { type BloomMark, hasForm, isMark, markOf, printedMark, textOfMark, timeOf } from './marks.js';
export { StallTimer } from './stall-timer.js';
export type { BloomFeed, BloomFeedContext, BloomFeedStatus } from './feed.js';
