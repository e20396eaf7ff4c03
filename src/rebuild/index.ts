export { rebuildError } from './failure.js';
export { packableIds, packedTogether, type PackedIds } from './packed-ids.js';
export type { RebuildJob, RebuildRequest } from './rebuild-job.js';
export type { BloomRebuildOptions, BloomRebuildReport } from './report.js';
export { runRebuild } from './run-rebuild.js';
export type { BloomIdsContext, BloomIdSource, BloomIdSpelling } from './source.js';
