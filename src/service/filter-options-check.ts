import {
  blocked,
  type FilterLayout,
  MAX_ID_BYTES_LIMIT,
  MOST_PARTS,
  namedNormalizer,
  NORMALIZERS,
} from '../filter/index.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import type { BloomFilterOptions, BloomRebuildSchedule } from './filter-options.js';
import { checkTopUp, TOP_UP } from './freshness/top-up-options.js';
import {
  A_FUNCTION,
  A_SHARE,
  checkOptions,
  type Expect,
  type Expectation,
  isInteger,
  milliseconds,
  oneOf,
  type OptionTable,
  TRUE_OR_FALSE,
} from '../common/index.js';

const MAX_LENGTH = 214;

export const OWNER: Expectation = [
  `the name of an application, a text of 1 to ${MAX_LENGTH} characters, or false`,
  (owner) => owner === false || isOwnerName(owner),
];

/** Whether metadata can hold a text as an owner: an unpaired surrogate would come back changed. */
export function isOwnerName(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && !/\p{Surrogate}/u.test(value)
  );
}

/** The largest filter. */
const MAX_MEMORY_MIB = 4096;
const MAX_DENIALS = 10_000_000;
/** 2.6 MiB of Redis. */
const MAX_SHARED_DENIALS = 100_000;
/** Too short to last between two turns of a busy process; too long for an add to wait. */
const LEAST_COPY_LEASE_MS = 100;
const LONGEST_COPY_LEASE_MS = 30_000;

const REBUILD = {
  cron: ["a cron expression such as '0 4 * * *'", (cron) => typeof cron === 'string'],
  timeZone: ['an IANA time zone', (timeZone) => typeof timeZone === 'string'],
  everyMs: milliseconds(1),
  onBoot: oneOf('if-missing', 'always', 'never'),
  drainMs: milliseconds(0),
  minRatio: A_SHARE,
  leaseMs: milliseconds(100, 'at least 100 milliseconds'),
  stallMs: milliseconds(1),
  memoryMiB: [`a whole number of MiB from 1 to ${MAX_MEMORY_MIB}`, isInteger(1, MAX_MEMORY_MIB)],
  onBadId: oneOf('fail', 'skip'),
} satisfies OptionTable<BloomRebuildSchedule>;

const AUDIT = { sampleRate: A_SHARE } satisfies OptionTable<
  Exclude<BloomFilterOptions['audit'], false | undefined>
>;

const NEGATIVE_CACHE = {
  lifeMs: milliseconds(1),
  maxIds: [idsUpTo(MAX_DENIALS), isInteger(1, MAX_DENIALS)],
  shared: TRUE_OR_FALSE,
} satisfies OptionTable<NegativeCacheOptions>;

const FILTER = {
  name: ['a name of letters, digits and . _ -', isFilterName],
  capacity: true,
  errorRate: true,
  layout: true,
  source: [
    'an object with a method ids(), a provider class whose instances have one, or { inject, useFactory }',
    (source) => hasMethod(source, 'ids'),
  ],
  create: oneOf('first-start', 'explicit'),
  owner: OWNER,
  rebuild: { known: REBUILD, valued: ['cron'], elsewhere: besideRebuild },
  normalize: [
    `a function, or one of ${Object.keys(NORMALIZERS)
      .map((name) => `'${name}'`)
      .join(', ')}`,
    (normalize) => A_FUNCTION[1](normalize) || namedNormalizer(normalize) !== undefined,
  ],
  scoped: TRUE_OR_FALSE,
  maxIdBytes: [`an integer from 1 to ${MAX_ID_BYTES_LIMIT}`, isInteger(1, MAX_ID_BYTES_LIMIT)],
  partitions: [
    `an integer from 2 to ${MOST_PARTS}, the same in all processes and for ever, or true for 16, which suits most clusters, or left out for a filter on one node`,
    (partitions) => partitions === true || isInteger(2, MOST_PARTS)(partitions),
  ],
  replica: oneOf('off', 'verified', 'covered', 'leased'),
  leaseMs: [
    `a whole number of milliseconds from ${LEAST_COPY_LEASE_MS} to ${LONGEST_COPY_LEASE_MS}`,
    isInteger(LEAST_COPY_LEASE_MS, LONGEST_COPY_LEASE_MS),
  ],
  maxBytes: true,
  audit: { known: AUDIT, needed: ['sampleRate'], or: [false] },
  shadow: TRUE_OR_FALSE,
  negativeCache: {
    known: NEGATIVE_CACHE,
    or: [true, false],
    expected: '{ lifeMs, maxIds, shared }, true or false',
  },
  topUp: TOP_UP,
  coverage: oneOf('ordered', 'none'),
  feed: [
    'an object with a method follow(context), such as postgresFeed() makes',
    (feed) => hasMethod(feed, 'follow'),
  ],
} satisfies OptionTable<BloomFilterOptions>;

/** Without a value of these a filter is empty, out of date, spelled otherwise, or of another application. */
const VALUED: readonly (keyof BloomFilterOptions)[] = ['source', 'feed', 'normalize', 'owner'];

/** @throws {BloomConfigError} for an unknown option, or one that never works. */
export function checkFilterOptions(options: BloomFilterOptions, where: string): void {
  checkOptions(options, { where, known: FILTER, valued: VALUED, needed: ['name'], elsewhere: intoRebuild });
}

/** @throws {BloomConfigError} for options that do not go together. */
export function checkCombination(
  options: BloomFilterOptions,
  { kind, grows, isMadeByOthers }: FilterLayout,
  expect: Expect,
): void {
  const { source, create, replica, leaseMs, partitions, negativeCache, coverage, feed, topUp } = options;
  const { cron, everyMs } = options.rebuild ?? {};
  const isBlocked = kind === blocked.kind;
  const noSource = source === undefined;
  const notDivided = `left out with the layout ${kind}, which cannot be divided`;
  expect('partitions', partitions, notDivided, isBlocked || partitions === undefined);
  expect('source', source, 'no source, since a filter that grows is not rebuilt', noSource || !grows);
  const noCopies = `with the layout ${kind}, of which there are no copies`;
  expect('replica', replica, `'off' ${noCopies}`, isBlocked || replica === undefined || replica === 'off');
  expect('leaseMs', leaseMs, `left out ${noCopies}`, isBlocked || leaseMs === undefined);
  if (partitions !== undefined) {
    const noLeases = 'with partitions, since copies of parts have no leases';
    expect('replica', replica, `'off', 'verified' or 'covered' ${noLeases}`, replica !== 'leased');
    expect('leaseMs', leaseMs, `left out ${noLeases}`, leaseMs === undefined);
  }
  if (create === 'explicit') {
    expect('create', create, 'left out with a source, whose first rebuild creates the filter', noSource);
    const byOthers =
      'left out with a filter on a key of other systems, which create it; see the option adopt of the layout';
    expect('create', create, byOthers, !isMadeByOthers);
  }
  if (typeof negativeCache === 'object' && negativeCache.shared) {
    const { maxIds = 1 } = negativeCache;
    expect('negativeCache.maxIds', maxIds, idsUpTo(MAX_SHARED_DENIALS), maxIds <= MAX_SHARED_DENIALS);
  }
  if (everyMs !== undefined)
    expect('rebuild.everyMs', everyMs, 'either cron or everyMs, not both', cron === undefined);
  if (everyMs !== undefined || cron !== undefined)
    expect('source', source, 'a source, since a schedule is given', !noSource);
  const forCoverage = 'given with coverage, which is about its rows';
  expect('source', source, forCoverage, coverage !== 'ordered' || !noSource);
  const forFeed = 'given with a feed: rows that the feed has missed are found by a rebuild';
  expect('source', source, forFeed, feed === undefined || !noSource);
  const { scoped = false } = options;
  const withoutScopes = 'false or left out with topUp and feed, whose ids have no scope';
  expect('scoped', scoped, withoutScopes, !scoped || (topUp === undefined && feed === undefined));
  checkTopUp(options, expect);
}

function intoRebuild(name: string): string | undefined {
  return Object.hasOwn(REBUILD, name) ? `Write it into rebuild: rebuild: { ${name}: … }.` : undefined;
}

function besideRebuild(name: string): string | undefined {
  return Object.hasOwn(FILTER, name) ? 'Write it beside rebuild, not into it.' : undefined;
}

function isFilterName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w.-]{1,200}$/.test(name);
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof (value as Record<string, unknown> | null)?.[name] === 'function';
}

function idsUpTo(most: number): string {
  return `a number of ids up to ${most}`;
}
