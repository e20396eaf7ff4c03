import { BloomConfigError, describeError, expecter } from '../common/index.js';
import {
  blocked,
  type FilterLayout,
  isFilterLayout,
  namedNormalizer,
  partitionedLayout,
} from '../filter/index.js';
import { auditRule } from './guard-state.js';
import type { BloomFilterOptions } from './filter-options.js';
import { checkCombination, checkFilterOptions } from './filter-options-check.js';
import { checkFollowed, topUpSettings, whyNotOrdered } from './freshness/top-up-options.js';
import {
  FEED_ANY_ORDER,
  filterCannotBe,
  inOrderAlone,
  NOT_ASKED_FOR,
  notALayout,
} from './service.messages.js';

/** A filter as it was registered, with every default filled in. */
export type FilterDefinition = Readonly<ReturnType<typeof defineFilter>>;

/** 256 MiB: more than 140 million ids at the default error rate. */
const LEAST_MAX_BYTES = 1 << 28;
const MIB = 1 << 20;
/** Without a capacity: 0.2 MB at the default error rate. */
const USUAL_CAPACITY = 100_000;
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
export function defineFilter(options: BloomFilterOptions, toBeMade?: SourceToBeMade) {
  const isSourceMade = !toBeMade?.mayKnowSpelling;
  const { name, rebuild = {}, source, replica, topUp, coverage, scoped = false } = options;
  const where = `Filter '${typeof name === 'string' ? name : '?'}'`;
  const expect = expecter(where);
  checkFilterOptions(options, where);
  const chosen = chosenLayout(options);
  const partitions = options.partitions === true ? USUAL_PARTS : options.partitions;
  const layout = partitions === undefined ? chosen : partitionedLayout(chosen, partitions);
  const { drainMs = 10_000, stallMs = 300_000 } = rebuild;
  checkCombination(options, layout, expect);
  const { normalize: given } = options;
  const normalize = typeof given === 'function' ? given : namedNormalizer(given);
  const isCounted = options.capacity === undefined && source !== undefined && !layout.hasFixedSize;
  const target = {
    // Left out without a source: the layout says what it expects.
    capacity: isCounted ? USUAL_CAPACITY : options.capacity!,
    errorRate: options.errorRate ?? 0.001,
  };
  const planned = plannedBytes(layout, { ...target, hasSource: source !== undefined }, where);
  const maxBytes = options.maxBytes ?? Math.max(LEAST_MAX_BYTES, 4 * planned);
  expect('maxBytes', maxBytes, `at least what capacity and errorRate take, ${planned}`, maxBytes >= planned);
  const followed = () => ({
    topUp,
    coverage,
    source,
    scoped,
    normalize: normalize ?? source?.spelling?.normalize,
    drainMs,
  });
  const checkSource = () => {
    checkFollowed({ ...followed(), stallMs }, expect);
    if (replica !== 'covered') return;
    const reason = options.feed
      ? FEED_ANY_ORDER
      : coverage === 'none'
        ? NOT_ASKED_FOR
        : whyNotOrdered(followed());
    expect('replica', replica, inOrderAlone(reason ?? ''), reason === undefined);
  };
  if (!toBeMade) checkSource();
  return {
    name,
    ...target,
    /** The capacity is not known, so that the count of the source is believed. */
    isCounted,
    layout,
    /** Whether a build may give integers a bit each. */
    mayBeExact: options.layout === undefined && partitions === undefined && !scoped,
    source,
    /** Table and column of the source, where it names them. */
    readsFrom: toBeMade?.readsFrom ?? (() => source?.readsFrom),
    // A filter that others make, or a source fills, is not made empty.
    create: options.create ?? (source || layout.isMadeByOthers ? 'first-start' : 'explicit'),
    /** Undefined: that of the module. */
    owner: options.owner,
    normalize: normalize ?? (isSourceMade ? source?.spelling?.normalize : undefined),
    /** The source is made later, and may choose one. */
    awaitsSpelling: !isSourceMade && normalize === undefined,
    scoped,
    maxIdBytes: options.maxIdBytes ?? 1024,
    partitions,
    replica,
    /** Lease of a local copy, of this process or of others; undefined: nobody reads with leases. */
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
    /** The source is made later, and says then whether ids are made in order. */
    awaitsOrder: toBeMade !== undefined && (coverage !== 'none' || topUp !== undefined),
    /** As the source says by now. */
    get topUp() {
      return topUpSettings(followed());
    },
    /** Why ids are not covered; undefined where they are, or nobody wants it. */
    get whyNotCovered() {
      return coverage === 'none' ? undefined : whyNotOrdered(followed());
    },
    /** To be called when the source is made. Throws a BloomConfigError where it is not what options need. */
    checkSource,
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
