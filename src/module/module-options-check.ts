import {
  A_FUNCTION,
  AN_ARRAY,
  BloomConfigError,
  checkOptions,
  type Expectation,
  expecter,
  isFunction,
  isInteger,
  isNumber,
  isText,
  nearestName,
  type OptionNames,
  type OptionTable,
  TRUE_OR_FALSE,
} from '../common/index.js';
import { GUARD_DEFAULTS } from '../guard/index.js';
import type { BloomIdSource } from '../rebuild/index.js';
import { ATTACK_OPTIONS, OWNER } from '../service/index.js';
import type { BloomSourceFactory } from '../sources/index.js';
import { checkRedisOption } from '../store/redis/index.js';
import type { CopyLimits } from '../store/local-copy/index.js';
import type {
  AnyModuleOptions,
  BloomFactoryOptions,
  BloomFeature,
  BloomFeatureAsyncOptions,
  BloomHeartbeat,
  BloomModuleAsyncOptions,
  BloomModuleOptions,
  BloomServerlessOptions,
  BloomStoreLike,
} from './bloom-module-options.js';
import { besideStore, leftOutServerless, noSuchSourceOption, notASource } from './module.messages.js';

const TIMEOUT: Expectation = ['a number of milliseconds of at least 1', isNumber(1, 2 ** 31 - 1)];
const BYTES: Expectation = ['a number of bytes above 0', isNumber(Number.MIN_VALUE, Infinity)];

const COPIES = { bytesPerSecond: BYTES, maxBytes: BYTES } satisfies OptionTable<CopyLimits>;
const HEARTBEAT = {
  everyMs: [
    'a whole number of milliseconds from 1000 to 60000 (heartbeat: false turns heartbeats off)',
    isInteger(1000, 60_000),
  ],
} satisfies OptionTable<BloomHeartbeat>;

const FACTORY = {
  redis: true,
  store: ['a store with open(), close() and kind', isStore],
  keyPrefix: [
    'a text without braces and spaces',
    (keyPrefix) => isText(keyPrefix) && !/[{}\s]/.test(keyPrefix),
  ],
  owner: OWNER,
  guard: { known: GUARD_DEFAULTS },
  timeoutMs: TIMEOUT,
  writeTimeoutMs: TIMEOUT,
  trustAfterFailover: TRUE_OR_FALSE,
  copies: { known: COPIES },
  attack: { known: ATTACK_OPTIONS, or: [false] },
  heartbeat: { known: HEARTBEAT, or: [true, false] },
  onEvent: A_FUNCTION,
  logger: TRUE_OR_FALSE,
  runtime: ["'serverless', or left out", (runtime) => runtime === 'serverless'],
} satisfies OptionTable<Omit<AnyModuleOptions, 'isGlobal' | 'filters'>>;

/** Without a value of these filters are in memory, or on the keys of another application. */
const VALUED: readonly (keyof AnyModuleOptions)[] = ['redis', 'store', 'keyPrefix', 'owner'];

const STATIC = { filters: AN_ARRAY, isGlobal: TRUE_OR_FALSE } satisfies OptionTable<
  Pick<BloomModuleOptions, 'isGlobal' | 'filters'>
>;

const ASYNC = {
  ...STATIC,
  imports: true,
  inject: true,
  useFactory: true,
  useClass: true,
  useExisting: true,
} satisfies OptionTable<BloomModuleAsyncOptions>;

const TESTING = {
  guard: { known: GUARD_DEFAULTS },
  onEvent: A_FUNCTION,
  logger: TRUE_OR_FALSE,
} satisfies OptionTable<Pick<BloomModuleOptions, 'guard' | 'onEvent' | 'logger'>>;

const FEATURE_ASYNC = {
  name: true,
  imports: true,
  inject: true,
  useFactory: A_FUNCTION,
} satisfies OptionTable<BloomFeatureAsyncOptions>;

/** What a store of the application knows nothing of. */
const OF_REDIS = [
  'redis',
  'keyPrefix',
  'timeoutMs',
  'writeTimeoutMs',
  'trustAfterFailover',
  'copies',
] as const satisfies readonly (keyof AnyModuleOptions)[];

const SOURCE_FACTORY = { inject: true, useFactory: true } satisfies OptionNames<BloomSourceFactory>;
const SOURCE = {
  ids: true,
  count: true,
  spelling: true,
  idsSince: true,
  newest: true,
  idOrder: true,
  openTransactions: true,
  readsFrom: true,
  scoped: true,
} satisfies OptionNames<BloomIdSource>;

const ROOT = 'BloomModule.forRoot()';
const ROOT_ASYNC = 'BloomModule.forRootAsync()';

/** @throws {BloomConfigError} for options of `forRoot` that there are not, or that have another type. */
export function checkRootOptions(options: BloomModuleOptions | BloomServerlessOptions): void {
  checkOptions(options, { where: ROOT, known: { ...FACTORY, ...STATIC }, valued: VALUED });
  checkTogether(options, ROOT);
}

/** The same for what stands beside the factory of `forRootAsync`. */
export function checkRootAsyncOptions(options: BloomModuleAsyncOptions): void {
  const elsewhere = (name: string) =>
    Object.hasOwn(FACTORY, name) ? 'Return it from the factory: useFactory: () => ({ … }).' : undefined;
  checkOptions(options, { where: ROOT_ASYNC, known: ASYNC, elsewhere });
}

/** The same for what the factory of `forRootAsync` has made. */
export function checkedFactoryOptions(options: BloomFactoryOptions): BloomFactoryOptions {
  const where = `${ROOT_ASYNC}, what its factory returned`;
  const elsewhere = (name: string) =>
    Object.hasOwn(STATIC, name)
      ? `Write it beside the factory: forRootAsync({ ${name}, useFactory }).`
      : undefined;
  checkOptions(options, { where, known: FACTORY, valued: VALUED, elsewhere });
  checkTogether(options, where);
  return options;
}

/** The same for `BloomTestingModule`. */
export function checkTestingOptions(options: Pick<BloomModuleOptions, 'guard' | 'onEvent' | 'logger'>): void {
  checkOptions(options, { where: 'BloomTestingModule', known: TESTING });
}

/** The same for one filter of `forFeatureAsync`. */
export function checkFeatureAsync(options: BloomFeatureAsyncOptions): void {
  const elsewhere = (name: string) =>
    nearestName(name, Object.keys(FEATURE_ASYNC)) === undefined
      ? 'Return the options of a filter from useFactory; name, imports, inject and useFactory stand beside it.'
      : undefined;
  const where = `BloomModule.forFeatureAsync() of filter '${options.name}'`;
  checkOptions(options, { where, known: FEATURE_ASYNC, needed: ['useFactory'], elsewhere });
}

/** The same for the source of a filter, whose own members may not look like misspelt ones. */
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

/** @throws {BloomConfigError} for what a process cannot do that stands still between calls. */
export function checkServerlessFeature({ name, replica, topUp, feed, negativeCache }: BloomFeature): void {
  const expect = expecter(`Filter '${name}'`);
  const isLeftOut = replica === undefined || replica === 'off';
  expect('replica', replica, `'off', or ${leftOutServerless('keeps no copy')}`, isLeftOut);
  const unread = leftOutServerless('reads no new rows. A rebuild does, or a process that always runs');
  expect('topUp', topUp, unread, topUp === undefined);
  expect('feed', feed, unread, feed === undefined);
  const isShared = !negativeCache || (typeof negativeCache === 'object' && negativeCache.shared === true);
  const ages = leftOutServerless('does not notice how old its memory is');
  expect('negativeCache', negativeCache, `{ shared: true }, or ${ages}`, isShared);
}

function checkTogether(options: AnyModuleOptions, where: string): void {
  if (options.redis !== undefined) checkRedisOption(options.redis, where);
  if (options.runtime) checkServerless(options, where);
  if (options.store === undefined) return;
  const other = OF_REDIS.find((name) => options[name] !== undefined);
  if (other !== undefined) throw new BloomConfigError(besideStore(where, other));
}

function checkServerless(options: AnyModuleOptions, where: string): void {
  const expect = expecter(where);
  const { redis, heartbeat, attack, copies } = options;
  const inRedis = "given with runtime: 'serverless': a filter in memory does not outlive its process";
  expect('redis', redis, inRedis, redis !== undefined);
  const silent = `false, or ${leftOutServerless('reports nothing')}`;
  expect('heartbeat', heartbeat, silent, !heartbeat);
  expect('attack', attack, silent, !attack);
  expect('copies', copies, leftOutServerless('keeps no copy'), copies === undefined);
}

function isStore(value: unknown): boolean {
  const { open, close, kind } = Object(value) as Partial<BloomStoreLike>;
  return isFunction(open) && isFunction(close) && typeof kind === 'string';
}
