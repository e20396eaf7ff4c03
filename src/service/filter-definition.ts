import { BloomConfigError, printed } from '../common/index.js';
import { blocked, type BloomId, type FilterLayout, MAX_ID_BYTES_LIMIT } from '../filter/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import type { BloomFilterOptions } from './filter-options.js';
import { chosenLayout } from './layout-choice.js';
import type { NegativeCacheOptions } from './negative-cache.js';
import { checkFilterOptionNames } from './option-names.js';
import { isOwnerName, OWNER_NAME } from './owner-name.js';

/** A filter as it was registered, with every default filled in. */
export interface FilterDefinition {
  readonly name: string;
  readonly capacity: number;
  readonly errorRate: number;
  readonly layout: FilterLayout;
  readonly source: BloomIdSource | undefined;
  /** Of a filter without a source that nobody else makes. */
  readonly create: 'first-start' | 'explicit';
  /** Undefined: that of the module. */
  readonly owner: string | false | undefined;
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  /** There is no `normalize` yet, and the source, which is made later, may choose one. */
  readonly awaitsSpelling: boolean;
  readonly maxIdBytes: number;
  /** Undefined: as it suits the store. */
  readonly replica: BloomReplicaMode | undefined;
  readonly shadow: boolean;
  readonly auditSampleRate: number;
  readonly negativeCache: NegativeCacheOptions | boolean;
  readonly cron: string | undefined;
  readonly timeZone: string | undefined;
  readonly everyMs: number | undefined;
  readonly onBoot: 'if-missing' | 'always' | 'never';
  readonly drainMs: number;
  readonly minRatio: number;
  readonly leaseMs: number;
  readonly stallMs: number;
  readonly onBadId: 'fail' | 'skip';
  readonly maxBytes: number;
}

/** Of a rebuild's filter, 256 MiB: more than 140 million ids at the default error rate. */
const LEAST_MAX_BYTES = 1 << 28;
const ON_BOOT: readonly string[] = ['if-missing', 'always', 'never'];
/** 2.6 MiB of Redis. */
const MAX_SHARED_DENIALS = 100_000;
/** What a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Refuses an option of one filter unless what is expected of it holds. */
type Expect = (option: string, got: unknown, expected: string, holds: boolean) => void;

/**
 * @param isSourceMade whether the source can be asked already how its ids are spelled.
 * @throws {BloomConfigError} for an option that cannot work: which one, what was expected, what was given.
 */
export function defineFilter(options: BloomFilterOptions, isSourceMade = true): FilterDefinition {
  const { name, rebuild = {}, source, normalize, replica, shadow = false } = options;
  const expect = expecter(typeof name === 'string' ? name : '?');
  expect(
    'name',
    name,
    'a name of letters, digits and . _ -',
    typeof name === 'string' && /^[\w.-]{1,200}$/.test(name),
  );
  const layout = chosenLayout(options);
  checkFilterOptionNames(options);
  expect(
    'source',
    source,
    'no source, since a filter that grows is not rebuilt',
    !layout.grows || source === undefined,
  );
  expect(
    'source',
    source,
    'an object with a method ids(), a class of such that is a provider, or { inject, useFactory }',
    source === undefined || typeof source?.ids === 'function',
  );
  expect(
    'replica',
    replica,
    "'off' or 'verified'",
    replica === undefined || ['off', 'verified'].includes(replica),
  );
  expect(
    'replica',
    replica,
    `'off' with the layout ${layout.kind}, of which there are no copies`,
    replica !== 'verified' || layout.kind === blocked.kind,
  );
  checkCreate(options, layout, expect);
  const { owner } = options;
  expect('owner', owner, OWNER_NAME, owner === undefined || owner === false || isOwnerName(owner));
  expect('shadow', shadow, 'true or false', typeof shadow === 'boolean');
  expect('normalize', normalize, 'a function', normalize === undefined || typeof normalize === 'function');

  const definition: FilterDefinition = {
    name,
    capacity: options.capacity,
    errorRate: options.errorRate ?? 0.001,
    layout,
    source,
    create: options.create ?? 'first-start',
    owner: options.owner,
    normalize: normalize ?? (isSourceMade ? source?.spelling?.normalize : undefined),
    awaitsSpelling: !isSourceMade && normalize === undefined,
    maxIdBytes: options.maxIdBytes ?? 1024,
    replica,
    shadow,
    auditSampleRate: options.audit?.sampleRate ?? 0,
    negativeCache: options.negativeCache ?? false,
    cron: rebuild.cron,
    timeZone: rebuild.timeZone,
    everyMs: rebuild.everyMs,
    onBoot: rebuild.onBoot ?? 'if-missing',
    drainMs: rebuild.drainMs ?? 10_000,
    minRatio: rebuild.minRatio ?? 0.5,
    leaseMs: rebuild.leaseMs ?? 30_000,
    stallMs: rebuild.stallMs ?? 300_000,
    onBadId: rebuild.onBadId ?? 'fail',
    maxBytes: options.maxBytes ?? 0,
  };
  checkPlan(definition);
  const planned = layout.bytes(definition);
  const maxBytes = options.maxBytes ?? Math.max(LEAST_MAX_BYTES, 4 * planned);
  expect('maxBytes', maxBytes, `at least what capacity and errorRate take, ${planned}`, maxBytes >= planned);
  const { auditSampleRate, maxIdBytes } = definition;
  expect(
    'audit.sampleRate',
    auditSampleRate,
    'a share from 0 to 1',
    auditSampleRate >= 0 && auditSampleRate <= 1,
  );
  checkNegativeCache(definition, expect);
  expect(
    'maxIdBytes',
    maxIdBytes,
    `an integer from 1 to ${MAX_ID_BYTES_LIMIT}`,
    isInteger(maxIdBytes, 1, MAX_ID_BYTES_LIMIT),
  );
  checkSchedule(definition, expect);
  return { ...definition, maxBytes };
}

/** Refuses what would have no effect. */
function checkCreate({ create, source }: BloomFilterOptions, layout: FilterLayout, expect: Expect): void {
  expect(
    'create',
    create,
    "'first-start' or 'explicit'",
    create === undefined || ['first-start', 'explicit'].includes(create),
  );
  expect(
    'create',
    create,
    'left out with a source, whose first rebuild makes the filter',
    create !== 'explicit' || source === undefined,
  );
  expect(
    'create',
    create,
    'left out with a filter on a key of other systems, who make it; see the option adopt of the layout',
    create !== 'explicit' || !layout.isMadeByOthers,
  );
}

/** Whether there can be a filter of this layout and size. */
function checkPlan(definition: FilterDefinition): void {
  const { name, capacity, errorRate, layout } = definition;
  try {
    layout.check({ capacity, errorRate, hasSource: definition.source !== undefined });
  } catch (error) {
    throw new BloomConfigError(`Filter '${name}': ${(error as Error).message}`, { cause: error });
  }
}

function checkNegativeCache({ negativeCache }: FilterDefinition, expect: Expect): void {
  expect(
    'negativeCache',
    negativeCache,
    '{ lifeMs, maxIds, shared }, true or false',
    ['boolean', 'object'].includes(typeof negativeCache),
  );
  if (typeof negativeCache !== 'object') return;
  const { lifeMs = 1, maxIds = 1, shared = false } = negativeCache;
  const mostIds = shared === true ? MAX_SHARED_DENIALS : 10_000_000;
  expect('negativeCache.lifeMs', lifeMs, 'a number of milliseconds', isInteger(lifeMs, 1, MAX_DELAY_MS));
  expect('negativeCache.maxIds', maxIds, `a number of ids up to ${mostIds}`, isInteger(maxIds, 1, mostIds));
  expect('negativeCache.shared', shared, 'true or false', typeof shared === 'boolean');
}

function checkSchedule(definition: FilterDefinition, expect: Expect): void {
  const { source, cron, timeZone, everyMs, onBoot, drainMs, minRatio, leaseMs, stallMs, onBadId } =
    definition;
  expect(
    'rebuild.cron',
    cron,
    "a cron expression such as '0 4 * * *'",
    cron === undefined || typeof cron === 'string',
  );
  expect(
    'rebuild.timeZone',
    timeZone,
    'an IANA time zone',
    timeZone === undefined || typeof timeZone === 'string',
  );
  expect(
    'rebuild.everyMs',
    everyMs,
    'a number of milliseconds',
    everyMs === undefined || isInteger(everyMs, 1, MAX_DELAY_MS),
  );
  expect(
    'rebuild.everyMs',
    everyMs,
    'either cron or everyMs, not both',
    everyMs === undefined || cron === undefined,
  );
  expect('rebuild.onBoot', onBoot, "'if-missing', 'always' or 'never'", ON_BOOT.includes(onBoot));
  expect('rebuild.onBadId', onBadId, "'fail' or 'skip'", ['fail', 'skip'].includes(onBadId));
  expect('rebuild.drainMs', drainMs, 'a number of milliseconds', isInteger(drainMs, 0, MAX_DELAY_MS));
  expect('rebuild.minRatio', minRatio, 'a share from 0 to 1', minRatio >= 0 && minRatio <= 1);
  expect('rebuild.leaseMs', leaseMs, 'at least 100 milliseconds', isInteger(leaseMs, 100, MAX_DELAY_MS));
  expect('rebuild.stallMs', stallMs, 'a number of milliseconds', isInteger(stallMs, 1, MAX_DELAY_MS));
  expect(
    'source',
    source,
    'a source, since a schedule is given',
    source !== undefined || (cron === undefined && everyMs === undefined),
  );
}

function isInteger(value: number, from: number, to: number): boolean {
  return Number.isSafeInteger(value) && value >= from && value <= to;
}

function expecter(name: string): Expect {
  return (option, got, expected, holds) => {
    if (!holds)
      throw new BloomConfigError(
        `Filter '${name}': expected ${option} to be ${expected}, got ${printed(got)}.`,
      );
  };
}
