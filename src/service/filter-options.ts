import {
  blocked,
  type BloomId,
  type BloomLayout,
  type BloomNormalizeName,
  type FilterLayout,
  MAX_ID_BYTES_LIMIT,
  MOST_PARTS,
  namedNormalizer,
  NORMALIZERS,
} from '../filter/index.js';
import type { BloomFeed, BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import { type BloomTopUpOptions, checkTopUp, TOP_UP } from './freshness/top-up-options.js';
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

/** One filter, as it is registered. */
export interface BloomFilterOptions {
  /** Letters, digits and `. _ -`. */
  readonly name: string;
  /** Ids to hold at the error rate. A rebuild that finds more plans for more. */
  readonly capacity: number;
  /** Share of absent ids that are let through: 0.01, 0.001, … Default 0.001. */
  readonly errorRate?: number;
  /**
   * Default `blocked`, which no other system reads. The functions of `@nestjs-bloom/interop` make layouts of other systems: with Redis, a
   * filter on their very keys, which both sides may add to and check; `cuckoo()`, in memory or with `CF.*`, can remove ids. See
   * docs/interop.md. `scaling()` of `@nestjs-bloom/interop/scaling` makes one that grows, instead of a source, for ids whose number nobody knows.
   */
  readonly layout?: 'blocked' | BloomLayout;
  /** Where all ids come from. Without it the filter knows only what was added; see `create`. */
  readonly source?: BloomIdSource;
  /**
   * What creates a filter without a source. `explicit` (default): `reset()` makes it, which you call once; until
   * then lookups are `unknown` and `add` rejects. `first-start`: the first process that finds none makes it,
   * empty. A Redis that lost everything while no process of the application ran looks like a first start: the
   * filter is created again, empty, and answers "absent" for every id that was added before.
   */
  readonly create?: 'first-start' | 'explicit';
  /** Another `owner` than that of the module. */
  readonly owner?: string | false;
  readonly rebuild?: BloomRebuildSchedule;
  /**
   * Adds the ids of rows that others write, which no `add` announces: one process of all reads what is new, again and again. The source needs `idsSince`. Default:
   * such rows are found by the next rebuild. See docs/outside-writers.md.
   */
  readonly topUp?: BloomTopUpOptions;
  /**
   * Adds the ids of all rows that are committed, by whomever: `postgresFeed()` of `@nestjs-bloom/postgres/feed`, or one of your own. The filter needs a source. See
   * docs/outside-writers.md.
   */
  readonly feed?: BloomFeed;
  /**
   * The one form of ids that are written in several ways: applied to every id of a lookup, an add and the source; a function, or the name of one of
   * this package. A change of
   * it is a new filter: give it a new name, since instances of both versions of the application share what is stored. Default: what
   * the source chooses by the type of its column, if it knows that, else ids are taken as they are written.
   */
  readonly normalize?: BloomNormalizeName | ((id: BloomId) => BloomId);
  /** An id of more bytes is refused by `add` and absent on a lookup. Default 1024. */
  readonly maxIdBytes?: number;
  /**
   * For Redis Cluster: divides the filter into so many parts, each with a hash slot, a lease and rebuilds of its own, so that its memory, its load and its
   * failures are spread over the nodes. From 2 to 1,024; `true`: 16, which suits most clusters. It never changes: with another number the filter is another one, and needs
   * another name. Layout `blocked` only. Default: one filter in one slot. See docs/cluster.md.
   */
  readonly partitions?: number | true;
  /**
   * With Redis: `verified` keeps a copy of the filter in this process, so that lookups of ids that exist need no round trip;
   * "absent" is answered by Redis alone. `leased`: the copy answers "absent" too, and an `add` of any process waits until each such copy
   * has its ids, for `leaseMs` at the longest; not on a Redis Cluster. Then every process that adds to the filter has to set `replica: 'leased'` or `leaseMs`.
   * Default: `verified` for a filter of up to 64 MiB, else `off`.
   */
  readonly replica?: BloomReplicaMode;
  /**
   * How long a copy may answer "absent" without hearing from Redis, in milliseconds: the longest time that an `add` waits for a process that has stopped. From 100 to
   * 30,000, the same in all processes. Without `replica: 'leased'` it says that other processes read with leases. Default 1,000 with `replica: 'leased'`.
   */
  readonly leaseMs?: number;
  /**
   * Largest filter that a rebuild may make, in bytes. A source that really returns more ids fails the rebuild with `too-many-ids`.
   * Default: four times what `capacity` and `errorRate` take, at least 256 MiB.
   */
  readonly maxBytes?: number;
  /**
   * Lets a share of the absent answers (0 to 1) through to the method, and compares. A row that is found
   * takes the filter offline until it is rebuilt; a guard that is wrong again then blocks nothing any more.
   * Each guard of each process is on trial first: its first 20 absent answers are compared. `false`: none of
   * that. Default: with a source one in 1,000, at most five a second in each process; without a source the
   * trial alone.
   */
  readonly audit?: { readonly sampleRate: number } | false;
  /** Observes and never blocks, for a first roll-out; `filter.guarding.mode = 'on'` ends it. Default false. */
  readonly shadow?: boolean;
  /**
   * Remembers false positives that the database denied, so that a replayed one reaches it once in `lifeMs`: the null, or the
   * `NotFoundException`, of a guarded method whose single argument is the id, on an object that all callers share. It must mean that
   * the id exists for nobody: a method that takes the user from an `AsyncLocalStorage` does not suit. With Redis,
   * `{ shared: true }` remembers for all processes, and an `add` of any of them is heard of; `true` remembers in this process, and an
   * id that is remembered here may be answered "absent" for the rest of `lifeMs` after another process added it. Default false.
   */
  readonly negativeCache?: NegativeCacheOptions | boolean;
}

/** When a filter is rebuilt, and how. */
export interface BloomRebuildSchedule {
  /** A cron expression. Needs the packages `@nestjs/schedule` and `cron`. Every instance may fire; one rebuilds. */
  readonly cron?: string;
  /** IANA time zone of `cron`. Default: that of the process. */
  readonly timeZone?: string;
  /** Instead of `cron`: a rebuild is started every so many milliseconds. */
  readonly everyMs?: number;
  /** At start-up: when the filter is not ready, always, or never. Default `if-missing`. */
  readonly onBoot?: 'if-missing' | 'always' | 'never';
  /**
   * Longest time from the call of `add` to its row being visible to the source, in milliseconds: the longest transaction, plus the
   * lag of the replica if the source reads one. More than `writeTimeoutMs`, since an add may take that long. Default 10,000.
   */
  readonly drainMs?: number;
  /**
   * A build with fewer ids than this share of the last one is refused, and so is one with none. Default 0.5; 0 accepts any
   * number, for a table that may be empty.
   */
  readonly minRatio?: number;
  /** How long the right to rebuild lasts without being renewed, in milliseconds. Default 30,000. */
  readonly leaseMs?: number;
  /**
   * A rebuild whose source gives nothing for so long fails and gives its lease back, in milliseconds. Longer than the slowest
   * query of the source. Default 300,000.
   */
  readonly stallMs?: number;
  /**
   * Memory of this process for the filter that a rebuild fills, in MiB. A larger filter is filled in several passes, each of which reads the whole
   * source; `passes` of the event `rebuild-started` says how many. Layouts of others and filters in memory are filled in one. Default 512.
   */
  readonly memoryMiB?: number;
  /**
   * What a rebuild does with an id that cannot be added: longer than `maxIdBytes`, of a type that is not an id, or refused by
   * `normalize`. `fail` (default) fails the rebuild, and the live filter stays. `skip` leaves the id out, with one event `ids-skipped` for
   * each build, as if its row did not exist. A lookup of an id over `maxIdBytes` is `absent`; a value that is not an id passes unguarded.
   */
  readonly onBadId?: 'fail' | 'skip';
}

const MAX_LENGTH = 214;

export const OWNER: Expectation = [
  `the name of an application, a text of 1 to ${MAX_LENGTH} characters, or false`,
  (owner) => owner === false || isOwnerName(owner),
];

/** Whether metadata can hold a text as an owner: an unpaired surrogate would come back as another character. */
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
/** A shorter one would end between two turns of a busy process; for a longer one, an add would wait too long. */
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
  maxIdBytes: [`an integer from 1 to ${MAX_ID_BYTES_LIMIT}`, isInteger(1, MAX_ID_BYTES_LIMIT)],
  partitions: [
    `an integer from 2 to ${MOST_PARTS}, the same in all processes and for ever, or true for 16, which suits most clusters, or left out for a filter on one node`,
    (partitions) => partitions === true || isInteger(2, MOST_PARTS)(partitions),
  ],
  replica: oneOf('off', 'verified', 'leased'),
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
  feed: [
    'an object with a method follow(context), such as postgresFeed() makes',
    (feed) => hasMethod(feed, 'follow'),
  ],
} satisfies OptionTable<BloomFilterOptions>;

/** Without a value of these a filter is empty, out of date, spelled otherwise, or of another application. */
const VALUED: readonly (keyof BloomFilterOptions)[] = ['source', 'feed', 'normalize', 'owner'];

/** @throws {BloomConfigError} for an option that there is not, or that cannot work whatever the others are. */
export function checkFilterOptions(options: BloomFilterOptions, where: string): void {
  checkOptions(options, { where, known: FILTER, valued: VALUED, needed: ['name'], elsewhere: intoRebuild });
}

/** @throws {BloomConfigError} for a name that a filter cannot have. */
export function checkFilterName(name: unknown, expect: Expect): void {
  expect('name', name, FILTER.name[0], isFilterName(name));
}

/** Values that options have by default, or that the layout gives them. */
export interface ChosenOptions {
  readonly layout: FilterLayout;
  readonly drainMs: number;
  readonly stallMs: number;
}

/** @throws {BloomConfigError} for options that do not go together. */
export function checkCombination(options: BloomFilterOptions, chosen: ChosenOptions, expect: Expect): void {
  const { source, create, replica, leaseMs, partitions, negativeCache, topUp, feed } = options;
  const { cron, everyMs } = options.rebuild ?? {};
  const { kind, grows, isMadeByOthers } = chosen.layout;
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
    expect('replica', replica, `'off' or 'verified' ${noLeases}`, replica !== 'leased');
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
  const forFeed = 'given with a feed: rows that the feed has missed are found by a rebuild';
  expect('source', source, forFeed, feed === undefined || !noSource);
  if (topUp !== undefined) checkTopUp(topUp, { source, ...chosen }, expect);
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
