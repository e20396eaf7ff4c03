import { count, duration, plural, printed, size } from '../common/index.js';
import { isRounded } from '../filter/index.js';
import type { BuildOccasion } from '../store/index.js';

export const ANOTHER_PROCESS = 'Another process is rebuilding this filter.';

export const rebuildEnded = (filter: string, reason: string, cause: string) =>
  `The rebuild of filter '${filter}' ended without a new generation (${reason}). The live filter was not changed. ${cause}`;

export const rebuildEndedPartly = (filter: string, reason: string, cause: string) =>
  `The rebuild of filter '${filter}' ended without a new generation for some parts (${reason}), which were not changed. ${cause}`;

export const notDueYet = (occasion: BuildOccasion | undefined, dueInMs: number) =>
  (occasion?.kind === 'recovery'
    ? 'The last build of this filter failed a short time ago.'
    : 'A build of this filter began a short time ago.') + ` The next one is due in ${duration(dueInMs)}.`;

export const sourceOutgrowsPlans = (plans: number, ids: number) =>
  `The source returned more ids than planned ${plural(plans, 'time')} in a row, the last time about ${count(ids)}.`;

export const missingFromStaging = (missing: number, asked: number) =>
  `Verification failed: ${count(missing)} of ${plural(asked, 'id')} are missing from the new build. Report this if it repeats.`;

export const tooFewIds = (ids: number, builtIds: number, minRatio: number) =>
  `The source returned ${plural(ids, 'id')}, the last build had ${count(builtIds)}. Expected ` +
  (builtIds > 0
    ? `at least ${count(Math.ceil(builtIds * minRatio))} (minRatio ${minRatio})`
    : 'at least one') +
  '. If that is right, call rebuild({ force: true }), or set minRatio to 0 for a table that may be empty.';

export const passReadFewer = (pass: number, passes: number, ids: number, before: number) =>
  `Pass ${pass} of ${passes} over the source read ${plural(ids, 'id')}, one before it ${count(before)}. Rows that a pass does not see are missing from its part of ` +
  'the filter. If so many were deleted meanwhile, call rebuild({ force: true }), or raise rebuild.memoryMiB so that one pass is enough.';

export const tooManyForMaxBytes = (ids: number, errorRate: number, maxBytes: number) =>
  `The source returned about ${plural(ids, 'id')}, which at error rate ${errorRate} would take more than maxBytes, ${size(maxBytes)}. If there are that many, ` +
  'raise maxBytes, or the error rate; otherwise check what the source reads.';

export const countNotBelieved = (counted: number, planned: number) =>
  `count() of the source returned ${counted}. The build is planned for ${plural(planned, 'id')} until that many are read.`;

export const wrongCount = (got: unknown) =>
  `Expected count() of the source to return a number of ids, got ${printed(got)}.`;

export const notAsync = (method: string, got: string) =>
  `Expected ${method}() of the source to return an async iterable, got ${got}. Write it as an async generator: async *${method}() { yield ids; }, where ids is an ` +
  'array of ids.';

export const badId = (error: string, id: unknown) =>
  `${error} The source returned ${printed(id)}.` +
  // It stands for a row whose id is another one.
  (isRounded(id)
    ? ''
    : " Prevent such rows, leave them out of what the source reads, or set rebuild.onBadId: 'skip', which leaves them out and reports how many there were.");

export const sourceStalled = (stallMs: number) =>
  `Expected the source to return something within ${stallMs} ms (rebuild.stallMs), got nothing. Check what its query waits for, or raise ` +
  'stallMs.';
