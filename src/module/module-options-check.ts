import { BloomConfigError, checkOptions, nearestName, type OptionNames } from '../common/index.js';
import type { BloomGuardDefaults } from '../guard/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import { checkAttackOptions } from '../service/index.js';
import type { BloomSourceFactory } from '../sources/index.js';
import { checkRedisOption } from '../store/redis/index.js';
import type { CopyLimits } from '../store/replica/index.js';
import type {
  BloomFactoryOptions,
  BloomFeatureAsyncOptions,
  BloomHeartbeat,
  BloomModuleAsyncOptions,
  BloomModuleOptions,
  BloomStoreLike,
} from './bloom-module-options.js';
import {
  besideStore,
  noFactory,
  noSuchSourceOption,
  notASource,
  wrongModuleOption,
} from './module.messages.js';

const FACTORY = {
  redis: true,
  store: true,
  keyPrefix: true,
  owner: true,
  guard: true,
  timeoutMs: true,
  writeTimeoutMs: true,
  trustAfterFailover: true,
  copies: true,
  attack: true,
  heartbeat: true,
  onEvent: true,
  logger: true,
} satisfies OptionNames<BloomFactoryOptions>;

/** Without a value of these filters are in memory, or on the keys of another application. */
const VALUED: readonly (keyof BloomFactoryOptions)[] = ['redis', 'store', 'keyPrefix', 'owner'];

const STATIC = { filters: true, isGlobal: true } satisfies OptionNames<
  Omit<BloomModuleOptions, keyof BloomFactoryOptions>
>;

const ASYNC = {
  ...STATIC,
  imports: true,
  inject: true,
  useFactory: true,
  useClass: true,
  useExisting: true,
} satisfies OptionNames<BloomModuleAsyncOptions>;

const FEATURE_ASYNC = {
  name: true,
  imports: true,
  inject: true,
  useFactory: true,
} satisfies OptionNames<BloomFeatureAsyncOptions>;

/** What a store of the application knows nothing of. */
const OF_REDIS = [
  'redis',
  'keyPrefix',
  'timeoutMs',
  'writeTimeoutMs',
  'trustAfterFailover',
  'copies',
] as const satisfies readonly (keyof BloomFactoryOptions)[];

const SOURCE_FACTORY = { inject: true, useFactory: true } satisfies OptionNames<BloomSourceFactory>;
const SOURCE = {
  ids: true,
  count: true,
  spelling: true,
  idsSince: true,
  newest: true,
  readsFrom: true,
} satisfies OptionNames<BloomIdSource>;
const COPIES = { bytesPerSecond: true, maxBytes: true } satisfies OptionNames<CopyLimits>;
const HEARTBEAT = { everyMs: true } satisfies OptionNames<BloomHeartbeat>;
const GUARD = {
  onAbsent: true,
  onUnknown: true,
  onInvalid: true,
  onThrow: true,
} satisfies OptionNames<BloomGuardDefaults>;

const ROOT = 'BloomModule.forRoot()';
const ROOT_ASYNC = 'BloomModule.forRootAsync()';

/** @throws {BloomConfigError} for options of `forRoot` that there are not, or that have another type. */
export function checkRootOptions(options: BloomModuleOptions): void {
  checkOptions(options, { where: ROOT, known: { ...FACTORY, ...STATIC }, valued: VALUED });
  checkStatic(options, ROOT);
  checkParts(options, ROOT);
}

/** The same for what stands beside the factory of `forRootAsync`. */
export function checkRootAsyncOptions(options: BloomModuleAsyncOptions): void {
  const elsewhere = (name: string) =>
    Object.hasOwn(FACTORY, name) ? 'Return it from the factory: useFactory: () => ({ … }).' : undefined;
  checkOptions(options, { where: ROOT_ASYNC, known: ASYNC, elsewhere });
  checkStatic(options, ROOT_ASYNC);
}

/** The same for what the factory of `forRootAsync` has made. */
export function checkedFactoryOptions(options: BloomFactoryOptions): BloomFactoryOptions {
  const where = `${ROOT_ASYNC}, what its factory returned`;
  const elsewhere = (name: string) =>
    Object.hasOwn(STATIC, name)
      ? `Write it beside the factory: forRootAsync({ ${name}, useFactory }).`
      : undefined;
  checkOptions(options, { where, known: FACTORY, valued: VALUED, elsewhere });
  checkParts(options, where);
  return options;
}

/** The same for `BloomTestingModule`. */
export function checkTestingOptions(options: Pick<BloomModuleOptions, 'guard' | 'onEvent' | 'logger'>): void {
  checkOptions(options, { where: 'BloomTestingModule', known: { guard: true, onEvent: true, logger: true } });
  checkParts(options, 'BloomTestingModule');
}

/** The same for one filter of `forFeatureAsync`. */
export function checkFeatureAsync(options: BloomFeatureAsyncOptions): void {
  const where = 'BloomModule.forFeatureAsync()';
  const elsewhere = (name: string) =>
    nearestName(name, Object.keys(FEATURE_ASYNC)) === undefined
      ? 'Return the options of a filter from useFactory; name, imports, inject and useFactory stand beside it.'
      : undefined;
  checkOptions(options, { where, known: FEATURE_ASYNC, elsewhere });
  if (typeof options.useFactory !== 'function')
    throw new BloomConfigError(noFactory(where, options.name, options.useFactory));
}

/** The same for the source of a filter, which may have members of its own unless they look like misspelt ones. */
export function checkSource(filter: string, source: unknown): void {
  // A function that makes no objects is no class of a provider.
  if (typeof source === 'function' && source.prototype?.constructor !== source)
    throw new BloomConfigError(notASource(filter, source));
  if (typeof source !== 'object' || source === null) return;
  const where = `Filter '${filter}'`;
  if ('useFactory' in source) {
    checkOptions(source, { where, path: 'source.', known: SOURCE_FACTORY });
    return;
  }
  for (const [name, value] of Object.entries(source)) {
    if (typeof value !== 'function' || Object.hasOwn(SOURCE, name)) continue;
    const near = nearestName(name, Object.keys(SOURCE), 1);
    if (near === undefined || near in source) continue;
    throw new BloomConfigError(noSuchSourceOption(where, name, near));
  }
}

function checkStatic({ filters, isGlobal }: Pick<BloomModuleOptions, 'filters' | 'isGlobal'>, where: string) {
  if (filters !== undefined && !Array.isArray(filters)) throw wrong(where, 'filters', 'an array', filters);
  checkBoolean(where, 'isGlobal', isGlobal);
}

function checkParts(options: BloomFactoryOptions, where: string): void {
  const {
    redis,
    copies = {},
    heartbeat = true,
    guard = {},
    attack,
    onEvent,
    logger,
    trustAfterFailover,
  } = options;
  if (redis !== undefined) checkRedisOption(redis, where);
  checkStore(options, where);
  checkOptions(copies, { where, path: 'copies.', known: COPIES });
  if (typeof heartbeat !== 'boolean')
    checkOptions(heartbeat, { where, path: 'heartbeat.', known: HEARTBEAT });
  checkOptions(guard, { where, path: 'guard.', known: GUARD });
  checkAttackOptions(attack, where);
  checkBoolean(where, 'trustAfterFailover', trustAfterFailover);
  checkBoolean(where, 'logger', logger);
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw wrong(where, 'onEvent', 'a function', onEvent);
}

function checkStore(options: BloomFactoryOptions, where: string): void {
  const { store } = options as { store?: Partial<BloomStoreLike> | null };
  if (store === undefined) return;
  const isStore =
    typeof store === 'object' &&
    typeof store?.open === 'function' &&
    typeof store.close === 'function' &&
    typeof store.kind === 'string';
  if (!isStore) throw wrong(where, 'store', 'a store with open(), close() and kind', store);
  const other = OF_REDIS.find((name) => options[name] !== undefined);
  if (other !== undefined) throw new BloomConfigError(besideStore(where, other));
}

function checkBoolean(where: string, option: string, got: unknown): void {
  if (got !== undefined && typeof got !== 'boolean') throw wrong(where, option, 'true or false', got);
}

function wrong(where: string, option: string, expected: string, got: unknown): BloomConfigError {
  return new BloomConfigError(wrongModuleOption(where, option, expected, got));
}
