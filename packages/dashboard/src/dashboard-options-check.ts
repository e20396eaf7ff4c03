import { BloomConfigError } from 'nestjs-bloom';
import {
  A_FUNCTION,
  AN_ARRAY,
  checkOptions,
  type Expectation,
  expecter,
  isFunction,
  isInteger,
  isText,
  type OptionsRules,
  type OptionTable,
  TRUE_OR_FALSE,
} from 'nestjs-bloom/integrations';
import { AUTH_AND_INSECURE, NO_AUTH, twiceNamed, wrongDashboardUser } from './dashboard.messages.js';
import type {
  BloomDashboardAction,
  BloomDashboardAsyncOptions,
  BloomDashboardFactoryOptions,
  BloomDashboardMount,
  BloomDashboardOptions,
  BloomDashboardSeries,
  BloomDashboardUser,
} from './dashboard-options.js';
import { hostNameOf } from './forgery.js';

/** A plain path: with parameters or wildcards in it the page would not know where it is. */
const PATH = /^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/;

const FACTORY = {
  auth: true,
  readOnly: [
    'true, false or a function of the request',
    (readOnly) => typeof readOnly === 'boolean' || isFunction(readOnly),
  ],
  who: ['a function of the request', isFunction],
  series: AN_ARRAY,
  actions: AN_ARRAY,
  maxViewers: ['a number of at least 1', isInteger(1, Number.MAX_SAFE_INTEGER)],
  hosts: [
    "an array of names such as 'bloom.internal', without scheme and port",
    (hosts) => Array.isArray(hosts) && hosts.every(isHostName),
  ],
} satisfies OptionTable<BloomDashboardFactoryOptions>;

/** Without a value of it everybody may act. */
const VALUED: readonly (keyof BloomDashboardFactoryOptions)[] = ['readOnly'];

const MOUNT = {
  path: ["a path such as '/bloom'", (path) => typeof path === 'string' && PATH.test(path)],
  insecure: TRUE_OR_FALSE,
  imports: AN_ARRAY,
  decorators: [
    'an array of class decorators',
    (decorators) => Array.isArray(decorators) && decorators.every(isFunction),
  ],
} satisfies OptionTable<BloomDashboardMount>;

const ASYNC = {
  ...MOUNT,
  auth: true,
  useFactory: A_FUNCTION,
  inject: true,
} satisfies OptionTable<BloomDashboardAsyncOptions>;

const USER = { user: true, password: true } satisfies OptionTable<BloomDashboardUser>;

const A_NAME: Expectation = ['a text that is not empty', isText];
const SERIES: OptionsRules = {
  known: {
    name: A_NAME,
    unit: true,
    isCounter: true,
    read: A_FUNCTION,
  } satisfies OptionTable<BloomDashboardSeries>,
  needed: ['name', 'read'],
};
const ACTION: OptionsRules = {
  known: { name: A_NAME, description: true, run: A_FUNCTION } satisfies OptionTable<BloomDashboardAction>,
  needed: ['name', 'run'],
};

const ROOT = 'BloomDashboardModule.forRoot()';
const ROOT_ASYNC = 'BloomDashboardModule.forRootAsync()';

/**
 * @throws {BloomConfigError} for options of `forRoot` that there are not or that cannot work, and without
 * `auth`.
 */
export function checkDashboardOptions(options: BloomDashboardOptions): void {
  checkOptions(options, { where: ROOT, known: { ...FACTORY, ...MOUNT }, valued: VALUED });
  const { auth, insecure } = options;
  checkGuarded({ auth, insecure });
  const isUser = auth !== undefined && !isGuards(auth);
  if (isUser) checkUser(auth, ROOT);
  checkParts(options, ROOT);
}

/** The same for what stands beside the factory of `forRootAsync`. */
export function checkDashboardAsyncOptions(options: BloomDashboardAsyncOptions): void {
  const elsewhere = (name: string) =>
    Object.hasOwn(FACTORY, name) ? 'Return it from the factory: useFactory: () => ({ … }).' : undefined;
  checkOptions(options, { where: ROOT_ASYNC, known: ASYNC, needed: ['useFactory'], elsewhere });
  const { auth } = options;
  const expected = 'a guard class, or user and password in what the factory returns';
  // A password is not printed.
  expecter(ROOT_ASYNC)('auth', undefined, expected, auth === undefined || isGuards(auth));
}

/** The same for what the factory of `forRootAsync` has made. */
export function checkedFactoryOptions(
  made: BloomDashboardFactoryOptions,
  { auth, insecure }: Pick<BloomDashboardAsyncOptions, 'auth' | 'insecure'>,
): BloomDashboardFactoryOptions {
  const where = `${ROOT_ASYNC}, what its factory returned`;
  const elsewhere = (name: string) =>
    Object.hasOwn(MOUNT, name)
      ? `Write it beside the factory: forRootAsync({ ${name}, useFactory }).`
      : undefined;
  checkOptions(made, { where, known: FACTORY, valued: VALUED, elsewhere });
  checkGuarded({ auth: made.auth ?? auth, insecure });
  if (made.auth !== undefined) checkUser(made.auth, where);
  checkParts(made, where);
  return made;
}

/** Whether these are guard classes of Nest, and not user and password. */
export function isGuards(auth: unknown): boolean {
  const isGuard = (one: unknown) =>
    typeof one === 'function' &&
    typeof (one.prototype as { canActivate?: unknown })?.canActivate === 'function';
  return Array.isArray(auth) ? auth.length > 0 && auth.every(isGuard) : isGuard(auth);
}

function checkGuarded({ auth, insecure }: { auth: unknown; insecure: boolean | undefined }): void {
  const hasAuth = auth !== undefined && auth !== null;
  if (!hasAuth && insecure !== true) throw new BloomConfigError(NO_AUTH);
  if (hasAuth && insecure === true) throw new BloomConfigError(AUTH_AND_INSECURE);
}

function checkUser(auth: unknown, where: string): void {
  const { user, password } = Object(auth) as Record<string, unknown>;
  if (!isText(user) || !isText(password) || String(user).includes(':'))
    throw new BloomConfigError(wrongDashboardUser(where));
  checkOptions(auth as BloomDashboardUser, { where, path: 'auth.', known: USER });
}

function checkParts(
  { series = [], actions = [] }: Pick<BloomDashboardFactoryOptions, 'series' | 'actions'>,
  where: string,
): void {
  checkNamed(series, { where, option: 'series', rules: SERIES });
  checkNamed(actions, { where, option: 'actions', rules: ACTION });
}

function checkNamed(
  list: readonly { readonly name: string }[],
  { where, option, rules }: { where: string; option: string; rules: OptionsRules },
): void {
  const names = new Set<string>();
  for (const [i, one] of list.entries()) {
    checkOptions(one, { ...rules, where, path: `${option}[${i}].`, expected: 'an object with a name' });
    if (names.has(one.name)) throw new BloomConfigError(twiceNamed(where, option, one.name));
    names.add(one.name);
  }
}

function isHostName(host: unknown): boolean {
  return typeof host === 'string' && /^[^\s:/?#@\\]+$/.test(host) && hostNameOf(host) !== undefined;
}
