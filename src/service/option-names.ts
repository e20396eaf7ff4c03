import { checkOptions, type OptionNames } from '../common/index.js';
import type { BloomFilterOptions, BloomRebuildSchedule } from './filter-options.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import type { BloomTopUpOptions } from './outside/top-up-options.js';

const FILTER = {
  name: true,
  capacity: true,
  errorRate: true,
  layout: true,
  source: true,
  create: true,
  owner: true,
  rebuild: true,
  normalize: true,
  maxIdBytes: true,
  partitions: true,
  replica: true,
  leaseMs: true,
  maxBytes: true,
  audit: true,
  shadow: true,
  negativeCache: true,
  topUp: true,
  feed: true,
} satisfies OptionNames<BloomFilterOptions>;

const REBUILD = {
  cron: true,
  timeZone: true,
  everyMs: true,
  onBoot: true,
  drainMs: true,
  minRatio: true,
  leaseMs: true,
  stallMs: true,
  memoryMiB: true,
  onBadId: true,
} satisfies OptionNames<BloomRebuildSchedule>;

/** Without a value of these a filter is empty, out of date, spelled otherwise, or of another application. */
const VALUED: readonly (keyof BloomFilterOptions)[] = ['source', 'feed', 'normalize', 'owner'];
const VALUED_IN_REBUILD: readonly (keyof BloomRebuildSchedule)[] = ['cron'];

const AUDIT = { sampleRate: true } satisfies OptionNames<
  Exclude<BloomFilterOptions['audit'], false | undefined>
>;

const NEGATIVE_CACHE = {
  lifeMs: true,
  maxIds: true,
  shared: true,
} satisfies OptionNames<NegativeCacheOptions>;

const TOP_UP = {
  everyMs: true,
  overlapMs: true,
  ordered: true,
  order: true,
  beyond: true,
  slack: true,
} satisfies OptionNames<BloomTopUpOptions>;

/**
 * Refuses an option that a filter does not have, also in the objects among its options.
 *
 * @throws {BloomConfigError}
 */
export function checkFilterOptionNames(options: BloomFilterOptions): void {
  const where = `Filter '${options.name}'`;
  const { rebuild = {}, audit = {}, negativeCache, topUp } = options;
  const besideRebuild = (name: string) =>
    Object.hasOwn(REBUILD, name) ? `Write it into rebuild: rebuild: { ${name}: … }.` : undefined;
  const inRebuild = (name: string) =>
    Object.hasOwn(FILTER, name) ? `Write it beside rebuild, not into it.` : undefined;
  checkOptions(options, { where, known: FILTER, valued: VALUED, elsewhere: besideRebuild });
  checkOptions(rebuild, {
    where,
    path: 'rebuild.',
    known: REBUILD,
    valued: VALUED_IN_REBUILD,
    elsewhere: inRebuild,
  });
  if (audit !== false) checkOptions(audit, { where, path: 'audit.', known: AUDIT });
  if (typeof negativeCache === 'object')
    checkOptions(negativeCache, { where, path: 'negativeCache.', known: NEGATIVE_CACHE });
  if (typeof topUp === 'object') checkOptions(topUp, { where, path: 'topUp.', known: TOP_UP });
}
