import { BloomConfigError, describeError, expecter } from '../common/index.js';
import {
  blocked,
  type BloomId,
  type FilterLayout,
  isFilterLayout,
  namedNormalizer,
  partitionedLayout,
} from '../filter/index.js';
import type { BloomFeed, BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import { type AuditRule, auditRule } from './guard-state.js';
import {
  type BloomFilterOptions,
  checkCombination,
  checkFilterName,
  checkFilterOptions,
} from './filter-options.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import { type TopUpSettings, topUpSettings } from './freshness/top-up-options.js';
import { filterCannotBe, notALayout } from './service.messages.js';

/** A filter as it was registered, with every default filled in. */
export interface FilterDefinition {
  readonly name: string;
  readonly capacity: number;
  readonly errorRate: number;
  readonly layout: FilterLayout;
  readonly source: BloomIdSource | undefined;
  /** Table and column of the source, where it names them. */
  readonly readsFrom: () => string | undefined | Promise<string | undefined>;
  /** What makes a filter without a source, on a key of its own. */
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
  /** Lease of a local copy, of this process or of others; undefined: nobody reads with leases. */
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
  /** Undefined: external writes are not followed. */
  readonly topUp: TopUpSettings | undefined;
  readonly feed: BloomFeed | undefined;
}

/** 256 MiB: more than 140 million ids at the default error rate. */
const LEAST_MAX_BYTES = 1 << 28;
const MIB = 1 << 20;
/** Five or six for each of three primaries, and one for each of sixteen. */
const USUAL_PARTS = 16;

/** A source that is made from providers, when all of them are there. */
export interface SourceToBeMade {
  /** Whether it may choose how ids are spelled. */
  readonly mayKnowSpelling: boolean;
  readonly readsFrom: () => Promise<string | undefined>;
}

/**
 * @throws {BloomConfigError} for an option that cannot work: which one, what was expected, what was given.
 */
export function defineFilter(options: BloomFilterOptions, toBeMade?: SourceToBeMade): FilterDefinition {
  const isSourceMade = !toBeMade?.mayKnowSpelling;
  const { name, rebuild = {}, source, replica, topUp } = options;
  const where = `Filter '${typeof name === 'string' ? name : '?'}'`;
  const expect = expecter(where);
  checkFilterName(name, expect);
  const chosen = chosenLayout(options);
  checkFilterOptions(options, where);
  const partitions = options.partitions === true ? USUAL_PARTS : options.partitions;
  const layout = partitions === undefined ? chosen : partitionedLayout(chosen, partitions);
  const { drainMs = 10_000, stallMs = 300_000 } = rebuild;
  checkCombination(options, { layout, drainMs, stallMs }, expect);
  const { normalize: given } = options;
  const normalize = typeof given === 'function' ? given : namedNormalizer(given);
  const target = { capacity: options.capacity, errorRate: options.errorRate ?? 0.001 };
  const planned = plannedBytes(layout, { ...target, hasSource: source !== undefined }, where);
  const maxBytes = options.maxBytes ?? Math.max(LEAST_MAX_BYTES, 4 * planned);
  expect('maxBytes', maxBytes, `at least what capacity and errorRate take, ${planned}`, maxBytes >= planned);
  return {
    name,
    ...target,
    layout,
    source,
    readsFrom: toBeMade?.readsFrom ?? (() => source?.readsFrom),
    // A filter that others make, or a source fills, is not made empty.
    create: options.create ?? (source || layout.isMadeByOthers ? 'first-start' : 'explicit'),
    owner: options.owner,
    normalize: normalize ?? (isSourceMade ? source?.spelling?.normalize : undefined),
    awaitsSpelling: !isSourceMade && normalize === undefined,
    maxIdBytes: options.maxIdBytes ?? 1024,
    partitions,
    replica,
    copyLeaseMs: options.leaseMs ?? (replica === 'leased' ? 1000 : undefined),
    shadow: options.shadow ?? false,
    audit: auditRule(options.audit, source !== undefined),
    negativeCache: options.negativeCache ?? false,
    cron: rebuild.cron,
    timeZone: rebuild.timeZone,
    everyMs: rebuild.everyMs,
    onBoot: rebuild.onBoot ?? 'if-missing',
    drainMs,
    minRatio: rebuild.minRatio ?? 0.5,
    leaseMs: rebuild.leaseMs ?? 30_000,
    stallMs,
    memoryBytes: (rebuild.memoryMiB ?? 512) * MIB,
    onBadId: rebuild.onBadId ?? 'fail',
    maxBytes,
    topUp: topUp && topUpSettings(topUp, drainMs),
    feed: options.feed,
  };
}

function plannedBytes(
  layout: FilterLayout,
  use: Parameters<FilterLayout['check']>[0],
  where: string,
): number {
  try {
    layout.check(use);
  } catch (error) {
    throw new BloomConfigError(filterCannotBe(where, describeError(error)), { cause: error });
  }
  return layout.bytes(use);
}

/** @throws {BloomConfigError} for what is no layout. */
export function chosenLayout({ name, layout }: BloomFilterOptions): FilterLayout {
  if (layout === undefined || layout === 'blocked') return blocked;
  if (isFilterLayout(layout)) return layout;
  throw new BloomConfigError(notALayout(name, layout));
}
