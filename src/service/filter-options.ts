import { BloomConfigError, printed } from '../common/index.js';
import {
  type BloomId,
  checkStoredLayout,
  MAX_ID_BYTES_LIMIT,
  planFilter,
  type ScalingOptions,
  storedBytes,
  type StoredLayout,
} from '../filter/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import type { BloomReplicaMode } from '../store/index.js';
import type { NegativeCacheOptions } from './negative-cache.js';

/** One filter, as it is registered. */
export interface BloomFilterOptions {
  /** Letters, digits and `. _ -`. */
  readonly name: string;
  /** Ids to hold at the error rate. A rebuild that finds more plans for more. */
  readonly capacity: number;
  /** Share of absent ids that are let through: 0.01, 0.001, … Default 0.001. */
  readonly errorRate?: number;
  /**
   * Default `blocked`, which no other system reads. An object names a layout of another system; with Redis, a filter on its very
   * keys, which both sides may add to and check. `cuckoo`, in the process or with `CF.*`, can remove ids. See docs/interop.md.
   */
  readonly layout?: 'blocked' | StoredLayout;
  /**
   * Instead of a source, for ids of whom nobody knows how many: a full filter grows by a layer of `expansion` times the capacity (default
   * 2) and `tightening` times the error rate (default 0.8); all layers together stay within `errorRate`. See `ScalableFilter`.
   */
  readonly scaling?: ScalingOptions;
  /** Where all ids come from. Without it the filter starts empty and knows only what was added. */
  readonly source?: BloomIdSource;
  readonly rebuild?: BloomRebuildSchedule;
  /**
   * The one form of ids that are written in several ways: applied to every id of a look-up, an add and the source. A change of
   * it is a new filter: give it a new name, since instances of both versions of the application share what is stored.
   */
  readonly normalize?: (id: BloomId) => BloomId;
  /** An id of more bytes is refused by `add` and absent on a look-up. Default 1024. */
  readonly maxIdBytes?: number;
  /**
   * With Redis: `verified` keeps a copy of the filter in this process, so that look-ups of ids that exist need no round trip;
   * "absent" is answered by Redis alone. Default: `verified` for a filter of up to 64 MiB, else `off`.
   */
  readonly replica?: BloomReplicaMode;
  /** Lets a share of the absent answers (0 to 1) through to the method and compares. Default none. */
  readonly audit?: { readonly sampleRate: number };
  /** Observes and never blocks, for a first roll-out; `filter.guarding.mode = 'on'` ends it. Default false. */
  readonly shadow?: boolean;
  /**
   * Remembers false positives that the database denied, so that a replayed one reaches it once in `lifeMs`: what a guarded method
   * found nothing for, by its id and for that method alone. A method whose null can mean anything else than that the id does
   * not exist needs `false`. On by default in the in-process store. With Redis off by default: `{ shared: true }` remembers
   * for all processes, and an `add` of any of them is heard of; without it an id that is remembered here may be answered "absent"
   * for the rest of `lifeMs` after another process added it.
   */
  readonly negativeCache?: NegativeCacheOptions | boolean;
}

/** When a filter is rebuilt, and how. */
export interface BloomRebuildSchedule {
  /** A cron expression, for `@nestjs/schedule`. Every instance may fire; one rebuilds. */
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
}

/** The same with every default filled in. */
export interface FilterDefinition {
  readonly name: string;
  readonly capacity: number;
  readonly errorRate: number;
  readonly layout: StoredLayout;
  readonly source: BloomIdSource | undefined;
  readonly normalize: ((id: BloomId) => BloomId) | undefined;
  readonly maxIdBytes: number;
  /** Undefined: as it suits the store. */
  readonly replica: BloomReplicaMode | undefined;
  readonly shadow: boolean;
  readonly auditSampleRate: number;
  /** Undefined: as it suits the store. */
  readonly negativeCache: NegativeCacheOptions | boolean | undefined;
  readonly cron: string | undefined;
  readonly timeZone: string | undefined;
  readonly everyMs: number | undefined;
  readonly onBoot: 'if-missing' | 'always' | 'never';
  readonly drainMs: number;
  readonly minRatio: number;
  readonly leaseMs: number;
  readonly stallMs: number;
}

/** @throws {BloomConfigError} for an option that cannot work: which one, what was expected, what was given. */
export function defineFilter(options: BloomFilterOptions): FilterDefinition {
  const { name, layout, rebuild = {}, source, normalize } = options;
  const expect = expecter(typeof name === 'string' ? name : '?');
  expect('rebuild', rebuild, 'an object', typeof rebuild === 'object' && rebuild !== null);
  expect(
    'name',
    name,
    'a name of letters, digits and . _ -',
    typeof name === 'string' && /^[\w.-]{1,200}$/.test(name),
  );
  const { scaling } = options;
  const kind = layout === undefined || layout === 'blocked' ? BLOCKED : layout;
  const storedLayout = scaling !== undefined && kind?.kind === 'blocked' ? { ...kind, scaling } : kind;
  expect(
    'scaling',
    scaling,
    "an object, with the layout 'blocked'",
    scaling === undefined || (typeof scaling === 'object' && scaling !== null && kind?.kind === 'blocked'),
  );
  const grows = storedLayout?.kind === 'blocked' && storedLayout.scaling !== undefined;
  expect(
    'source',
    source,
    'no source, since a filter with scaling is not rebuilt',
    !grows || source === undefined,
  );
  expect(
    'source',
    source,
    'an object with a method ids()',
    source === undefined || typeof source?.ids === 'function',
  );
  expect(
    'replica',
    options.replica,
    "'off' or 'verified'",
    options.replica === undefined || ['off', 'verified'].includes(options.replica),
  );
  expect(
    'replica',
    options.replica,
    `'off' with the layout ${printed(storedLayout?.kind)}${grows ? ' and scaling' : ''}, of which there are no copies`,
    options.replica !== 'verified' || (storedLayout?.kind === 'blocked' && !grows),
  );
  expect('normalize', normalize, 'a function', normalize === undefined || typeof normalize === 'function');

  const definition: FilterDefinition = {
    name,
    capacity: options.capacity,
    errorRate: options.errorRate ?? 0.001,
    layout: storedLayout,
    source,
    normalize,
    maxIdBytes: options.maxIdBytes ?? 1024,
    replica: options.replica,
    shadow: options.shadow ?? false,
    auditSampleRate: options.audit?.sampleRate ?? 0,
    negativeCache: options.negativeCache,
    cron: rebuild.cron,
    timeZone: rebuild.timeZone,
    everyMs: rebuild.everyMs,
    onBoot: rebuild.onBoot ?? 'if-missing',
    drainMs: rebuild.drainMs ?? 10_000,
    minRatio: rebuild.minRatio ?? 0.5,
    leaseMs: rebuild.leaseMs ?? 30_000,
    stallMs: rebuild.stallMs ?? 300_000,
  };
  try {
    checkStoredLayout(storedLayout);
    const { capacity, errorRate } = definition;
    const hasOwnSize = storedLayout.kind === 'cuckoo' || storedLayout.kind === 'redisbloom' || grows;
    planFilter({ capacity, errorRate, layout: hasOwnSize ? storedLayout : undefined });
    storedBytes(storedLayout, definition);
  } catch (error) {
    throw new BloomConfigError(`Filter '${name}': ${(error as Error).message}`, { cause: error });
  }
  const { auditSampleRate, negativeCache } = definition;
  expect(
    'audit.sampleRate',
    auditSampleRate,
    'a share from 0 to 1',
    auditSampleRate >= 0 && auditSampleRate <= 1,
  );
  expect(
    'negativeCache',
    negativeCache,
    '{ lifeMs, maxIds, shared }, true or false',
    negativeCache !== null && ['undefined', 'boolean', 'object'].includes(typeof negativeCache),
  );
  if (typeof negativeCache === 'object') {
    const { lifeMs = 1, maxIds = 1, shared = false } = negativeCache;
    const mostIds = shared === true ? MAX_SHARED_DENIALS : 10_000_000;
    expect('negativeCache.lifeMs', lifeMs, 'a number of milliseconds', isInteger(lifeMs, 1, MAX_DELAY_MS));
    expect('negativeCache.maxIds', maxIds, `a number of ids up to ${mostIds}`, isInteger(maxIds, 1, mostIds));
    expect('negativeCache.shared', shared, 'true or false', typeof shared === 'boolean');
  }
  const { maxIdBytes, cron, everyMs, onBoot, drainMs, minRatio, leaseMs, stallMs } = definition;
  expect(
    'maxIdBytes',
    maxIdBytes,
    `an integer from 1 to ${MAX_ID_BYTES_LIMIT}`,
    isInteger(maxIdBytes, 1, MAX_ID_BYTES_LIMIT),
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
  expect('rebuild.drainMs', drainMs, 'a number of milliseconds', isInteger(drainMs, 0, MAX_DELAY_MS));
  expect('rebuild.minRatio', minRatio, 'a share from 0 to 1', minRatio >= 0 && minRatio <= 1);
  expect('rebuild.leaseMs', leaseMs, 'at least 100 milliseconds', isInteger(leaseMs, 100, MAX_DELAY_MS));
  expect('rebuild.stallMs', stallMs, 'a number of milliseconds', isInteger(stallMs, 1, MAX_DELAY_MS));
  if (!source) {
    expect(
      'source',
      source,
      'a source, since a schedule is given',
      cron === undefined && everyMs === undefined,
    );
  }
  return definition;
}

const BLOCKED: StoredLayout = { kind: 'blocked' };
const ON_BOOT: readonly string[] = ['if-missing', 'always', 'never'];
/** 2.6 MiB of Redis. */
const MAX_SHARED_DENIALS = 100_000;
/** What a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

function isInteger(value: number, from: number, to: number): boolean {
  return Number.isSafeInteger(value) && value >= from && value <= to;
}

function expecter(name: string) {
  return (option: string, got: unknown, expected: string, holds: boolean): void => {
    if (!holds)
      throw new BloomConfigError(
        `Filter '${name}': expected ${option} to be ${expected}, got ${printed(got)}.`,
      );
  };
}
