import { BloomConfigError, describeError, printed } from '../common/index.js';
import {
  blocked,
  type BloomId,
  type FilterLayout,
  MAX_ID_BYTES_LIMIT,
  MOST_PARTS,
  namedNormalizer,
  partitionedLayout,
} from '../filter/index.js';
import type { BloomFeed, BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import { type AuditRule, auditRule } from './audit.js';
import type { Expect } from './expect.js';
import type { BloomFilterOptions } from './filter-options.js';
import * as must from './filter-options.messages.js';
import { filterCannotBe, wrongFilterOption } from './filter-options.messages.js';
import { chosenLayout } from './layout-choice.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import { checkFilterOptionNames } from './option-names.js';
import { checkFeed, checkTopUp } from './outside/top-up-check.js';
import type { TopUpSettings } from './outside/top-up-options.js';
import { isOwnerName, OWNER_NAME } from './owner-name.js';

/** A filter as it was registered, with every default filled in. */
export interface FilterDefinition {
  readonly name: string;
  readonly capacity: number;
  readonly errorRate: number;
  readonly layout: FilterLayout;
  readonly source: BloomIdSource | undefined;
  /** Table and column of the source, where it names them. */
  readonly readsFrom: () => string | undefined | Promise<string | undefined>;
  /** Of a filter without a source, on a key of its own. */
  readonly create: 'first-start' | 'explicit';
  /** Undefined: that of the module. */
  readonly owner: string | false | undefined;
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  /** There is no `normalize` yet, and the source, which is made later, may choose one. */
  readonly awaitsSpelling: boolean;
  readonly maxIdBytes: number;
  /** Undefined: the filter is not divided. */
  readonly partitions: number | undefined;
  /** Undefined: as it suits the store. */
  readonly replica: BloomReplicaMode | undefined;
  /** Of leases of copies, of this process or of others; undefined: nobody reads with leases. */
  readonly copyLeaseMs: number | undefined;
  readonly shadow: boolean;
  readonly audit: AuditRule;
  readonly negativeCache: NegativeCacheOptions | boolean;
  readonly cron: string | undefined;
  readonly timeZone: string | undefined;
  readonly everyMs: number | undefined;
  readonly onBoot: 'if-missing' | 'always' | 'never';
  readonly drainMs: number;
  readonly minRatio: number;
  readonly leaseMs: number;
  readonly stallMs: number;
  readonly memoryBytes: number;
  readonly onBadId: 'fail' | 'skip';
  readonly maxBytes: number;
  /** Undefined: nobody follows those who write rows beside the application. */
  readonly topUp: TopUpSettings | undefined;
  readonly feed: BloomFeed | undefined;
}

/** Of a rebuild's filter, 256 MiB: more than 140 million ids at the default error rate. */
const LEAST_MAX_BYTES = 1 << 28;
const MIB = 1 << 20;
/** The largest filter. */
const MAX_MEMORY_MIB = 4096;
const ON_BOOT: readonly string[] = ['if-missing', 'always', 'never'];
/** 2.6 MiB of Redis. */
const MAX_SHARED_DENIALS = 100_000;
/** A shorter one would end between two turns of a busy process; for a longer one, an add would wait too long. */
const LEAST_COPY_LEASE_MS = 100;
const LONGEST_COPY_LEASE_MS = 30_000;
/** What a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Five or six for each of three masters, and one for each of sixteen. */
const USUAL_PARTS = 16;

/** A source that is made from providers, when all of them are there. */
export interface SourceToBeMade {
  /** Whether it may choose how ids are spelled. */
  readonly mayKnowSpelling: boolean;
  readonly readsFrom: () => Promise<string | undefined>;
}

/**
 * @param toBeMade undefined where the source is there already.
 * @throws {BloomConfigError} for an option that cannot work: which one, what was expected, what was given.
 */
export function defineFilter(options: BloomFilterOptions, toBeMade?: SourceToBeMade): FilterDefinition {
  const isSourceMade = !toBeMade?.mayKnowSpelling;
  const { name, rebuild = {}, source, replica, shadow = false } = options;
  const partitions = options.partitions === true ? USUAL_PARTS : options.partitions;
  const normalize = namedNormalizer(options.normalize) ?? options.normalize;
  const expect = expecter(typeof name === 'string' ? name : '?');
  expect('name', name, must.FILTER_NAME, typeof name === 'string' && /^[\w.-]{1,200}$/.test(name));
  const chosen = chosenLayout(options);
  const layout = partitions === undefined ? chosen : partitionedLayout(chosen, partitions);
  checkFilterOptionNames(options);
  checkPartitions(partitions, chosen, expect);
  if (partitions !== undefined) checkCopiesOfParts(options, expect);
  expect('source', source, must.NO_SOURCE_TO_GROW, !layout.grows || source === undefined);
  expect('source', source, must.SOURCE, source === undefined || typeof source?.ids === 'function');
  expect(
    'replica',
    replica,
    must.REPLICA_MODE,
    replica === undefined || ['off', 'verified', 'leased'].includes(replica),
  );
  checkCopies(options, layout, expect);
  checkCreate(options, layout, expect);
  const { owner } = options;
  expect('owner', owner, OWNER_NAME, owner === undefined || owner === false || isOwnerName(owner));
  expect('shadow', shadow, must.TRUE_OR_FALSE, typeof shadow === 'boolean');
  if (normalize !== undefined && typeof normalize !== 'function')
    throw new BloomConfigError(wrongFilterOption(name, 'normalize', must.NORMALIZE, printed(normalize)));

  const { memoryMiB = 512 } = rebuild;
  expect('rebuild.memoryMiB', memoryMiB, must.MEMORY_MIB, isInteger(memoryMiB, 1, MAX_MEMORY_MIB));
  const definition: FilterDefinition = {
    name,
    capacity: options.capacity,
    errorRate: options.errorRate ?? 0.001,
    layout,
    source,
    readsFrom: toBeMade?.readsFrom ?? (() => source?.readsFrom),
    // What peers make, or a source fills, is not made empty.
    create: options.create ?? (source || layout.isMadeByOthers ? 'first-start' : 'explicit'),
    owner: options.owner,
    normalize: normalize ?? (isSourceMade ? source?.spelling?.normalize : undefined),
    awaitsSpelling: !isSourceMade && normalize === undefined,
    maxIdBytes: options.maxIdBytes ?? 1024,
    partitions,
    replica,
    copyLeaseMs: options.leaseMs ?? (replica === 'leased' ? 1000 : undefined),
    shadow,
    audit: auditRule(options.audit, source !== undefined),
    negativeCache: options.negativeCache ?? false,
    cron: rebuild.cron,
    timeZone: rebuild.timeZone,
    everyMs: rebuild.everyMs,
    onBoot: rebuild.onBoot ?? 'if-missing',
    drainMs: rebuild.drainMs ?? 10_000,
    minRatio: rebuild.minRatio ?? 0.5,
    leaseMs: rebuild.leaseMs ?? 30_000,
    stallMs: rebuild.stallMs ?? 300_000,
    memoryBytes: memoryMiB * MIB,
    onBadId: rebuild.onBadId ?? 'fail',
    maxBytes: options.maxBytes ?? 0,
    topUp: undefined,
    feed: options.feed,
  };
  checkPlan(definition);
  const planned = layout.bytes(definition);
  const maxBytes = options.maxBytes ?? Math.max(LEAST_MAX_BYTES, 4 * planned);
  expect('maxBytes', maxBytes, must.atLeastPlanned(planned), maxBytes >= planned);
  const { audit, maxIdBytes } = definition;
  const { sampleRate } = audit;
  expect('audit.sampleRate', sampleRate, must.SHARE, sampleRate >= 0 && sampleRate <= 1);
  checkNegativeCache(definition, expect);
  expect('maxIdBytes', maxIdBytes, must.MAX_ID_BYTES, isInteger(maxIdBytes, 1, MAX_ID_BYTES_LIMIT));
  checkSchedule(definition, expect);
  checkFeed(options.feed, source, expect);
  return { ...definition, maxBytes, topUp: checkTopUp(options.topUp, definition, expect) };
}

function checkPartitions(partitions: unknown, layout: FilterLayout, expect: Expect): void {
  if (partitions === undefined) return;
  const isNumber = isInteger(partitions as number, 2, MOST_PARTS);
  expect('partitions', partitions, must.partitions(MOST_PARTS), isNumber);
  expect('partitions', partitions, must.noPartitionsOf(layout.kind), layout.kind === blocked.kind);
}

/** Parts are copied, and none of their copies answers "absent". */
function checkCopiesOfParts({ replica, leaseMs }: BloomFilterOptions, expect: Expect): void {
  expect('replica', replica, must.NO_LEASED_PARTS, replica !== 'leased');
  expect('leaseMs', leaseMs, must.NO_LEASES_OF_PARTS, leaseMs === undefined);
}

/** Only blocks are copied. */
function checkCopies({ replica, leaseMs }: BloomFilterOptions, layout: FilterLayout, expect: Expect): void {
  const isCopied = layout.kind === blocked.kind;
  const isAsked = replica !== undefined && replica !== 'off';
  expect('replica', replica, must.noCopiesOf(layout.kind), isCopied || !isAsked);
  expect('leaseMs', leaseMs, must.noLeasesOf(layout.kind), isCopied || leaseMs === undefined);
  const isLength = leaseMs === undefined || isInteger(leaseMs, LEAST_COPY_LEASE_MS, LONGEST_COPY_LEASE_MS);
  expect('leaseMs', leaseMs, must.copyLeaseMs(LEAST_COPY_LEASE_MS, LONGEST_COPY_LEASE_MS), isLength);
}

/** Refuses what would have no effect. */
function checkCreate({ create, source }: BloomFilterOptions, layout: FilterLayout, expect: Expect): void {
  expect('create', create, must.CREATE, create === undefined || ['first-start', 'explicit'].includes(create));
  expect('create', create, must.NO_CREATE_WITH_SOURCE, create !== 'explicit' || source === undefined);
  expect('create', create, must.NO_CREATE_ON_PEERS_KEY, create !== 'explicit' || !layout.isMadeByOthers);
}

/** Whether there can be a filter of this layout and size. */
function checkPlan(definition: FilterDefinition): void {
  const { name, capacity, errorRate, layout } = definition;
  try {
    layout.check({ capacity, errorRate, hasSource: definition.source !== undefined });
  } catch (error) {
    throw new BloomConfigError(filterCannotBe(name, describeError(error)), { cause: error });
  }
}

function checkNegativeCache({ negativeCache }: FilterDefinition, expect: Expect): void {
  expect(
    'negativeCache',
    negativeCache,
    must.NEGATIVE_CACHE,
    ['boolean', 'object'].includes(typeof negativeCache),
  );
  if (typeof negativeCache !== 'object') return;
  const { lifeMs = 1, maxIds = 1, shared = false } = negativeCache;
  const mostIds = shared === true ? MAX_SHARED_DENIALS : 10_000_000;
  expect('negativeCache.lifeMs', lifeMs, must.MILLISECONDS, isInteger(lifeMs, 1, MAX_DELAY_MS));
  expect('negativeCache.maxIds', maxIds, must.idsUpTo(mostIds), isInteger(maxIds, 1, mostIds));
  expect('negativeCache.shared', shared, must.TRUE_OR_FALSE, typeof shared === 'boolean');
}

function checkSchedule(definition: FilterDefinition, expect: Expect): void {
  const { source, cron, timeZone, everyMs, onBoot, drainMs, minRatio, leaseMs, stallMs, onBadId } =
    definition;
  expect('rebuild.cron', cron, must.CRON, cron === undefined || typeof cron === 'string');
  expect(
    'rebuild.timeZone',
    timeZone,
    must.TIME_ZONE,
    timeZone === undefined || typeof timeZone === 'string',
  );
  expect(
    'rebuild.everyMs',
    everyMs,
    must.MILLISECONDS,
    everyMs === undefined || isInteger(everyMs, 1, MAX_DELAY_MS),
  );
  expect('rebuild.everyMs', everyMs, must.ONE_SCHEDULE, everyMs === undefined || cron === undefined);
  expect('rebuild.onBoot', onBoot, must.ON_BOOT, ON_BOOT.includes(onBoot));
  expect('rebuild.onBadId', onBadId, must.ON_BAD_ID, ['fail', 'skip'].includes(onBadId));
  expect('rebuild.drainMs', drainMs, must.MILLISECONDS, isInteger(drainMs, 0, MAX_DELAY_MS));
  expect('rebuild.minRatio', minRatio, must.SHARE, minRatio >= 0 && minRatio <= 1);
  expect('rebuild.leaseMs', leaseMs, must.LEASE_MS, isInteger(leaseMs, 100, MAX_DELAY_MS));
  expect('rebuild.stallMs', stallMs, must.MILLISECONDS, isInteger(stallMs, 1, MAX_DELAY_MS));
  expect(
    'source',
    source,
    must.SOURCE_OF_SCHEDULE,
    source !== undefined || (cron === undefined && everyMs === undefined),
  );
}

function isInteger(value: number, from: number, to: number): boolean {
  return Number.isSafeInteger(value) && value >= from && value <= to;
}

function expecter(name: string): Expect {
  return (option, got, expected, holds) => {
    if (!holds) throw new BloomConfigError(wrongFilterOption(name, option, expected, printed(got)));
  };
}
