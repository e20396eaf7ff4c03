import { BloomConfigError, checkOptions, type OptionNames } from '../../common/index.js';
import {
  AUTH_AND_INSECURE,
  NO_AUTH,
  twiceNamed,
  wrongDashboardOption,
  wrongDashboardUser,
} from './dashboard.messages.js';
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

const FACTORY = {
  auth: true,
  readOnly: true,
  who: true,
  series: true,
  actions: true,
  maxViewers: true,
  hosts: true,
} satisfies OptionNames<BloomDashboardFactoryOptions>;

/** Without a value of it everybody may act. */
const VALUED: readonly (keyof BloomDashboardFactoryOptions)[] = ['readOnly'];

const MOUNT = {
  path: true,
  insecure: true,
  imports: true,
  decorators: true,
} satisfies OptionNames<BloomDashboardMount>;

const USER = { user: true, password: true } satisfies OptionNames<BloomDashboardUser>;
const SERIES = {
  name: true,
  unit: true,
  isCounter: true,
  read: true,
} satisfies OptionNames<BloomDashboardSeries>;
const ACTION = { name: true, description: true, run: true } satisfies OptionNames<BloomDashboardAction>;

const ROOT = 'BloomDashboardModule.forRoot()';
const ROOT_ASYNC = 'BloomDashboardModule.forRootAsync()';

/** @throws {BloomConfigError} for options of `forRoot` that there are not or that cannot work, and without `auth`. */
export function checkDashboardOptions(options: BloomDashboardOptions): void {
  checkOptions(options, { where: ROOT, known: { ...FACTORY, ...MOUNT }, valued: VALUED });
  checkMount(options, ROOT);
  const { auth } = options;
  checkGuarded({ auth, insecure: options.insecure });
  const isUser = auth !== undefined && !isGuards(auth);
  if (isUser) checkUser(auth, ROOT);
  checkParts(options, ROOT);
}

/** The same for what stands beside the factory of `forRootAsync`. */
export function checkDashboardAsyncOptions(options: BloomDashboardAsyncOptions): void {
  const elsewhere = (name: string) =>
    Object.hasOwn(FACTORY, name) ? 'Return it from the factory: useFactory: () => ({ … }).' : undefined;
  const known = {
    ...MOUNT,
    auth: true,
    useFactory: true,
    inject: true,
  } satisfies OptionNames<BloomDashboardAsyncOptions>;
  checkOptions(options, { where: ROOT_ASYNC, known, elsewhere });
  checkMount(options, ROOT_ASYNC);
  if (typeof options.useFactory !== 'function')
    throw wrong(ROOT_ASYNC, 'useFactory', 'a function', options.useFactory);
  if (options.auth !== undefined && !isGuards(options.auth))
    throw wrong(
      ROOT_ASYNC,
      'auth',
      'a guard class, or user and password in what the factory returns',
      undefined,
    );
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
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  if (!isText(user) || !isText(password) || String(user).includes(':'))
    throw new BloomConfigError(wrongDashboardUser(where));
  checkOptions(auth as BloomDashboardUser, { where, path: 'auth.', known: USER });
}

/** A plain path: with parameters or wildcards in it the page would not know where it is. */
const PATH = /^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/;

function checkMount({ path, insecure, imports, decorators }: BloomDashboardMount, where: string): void {
  if (path !== undefined && !(typeof path === 'string' && PATH.test(path)))
    throw wrong(where, 'path', "a path such as '/bloom'", path);
  if (insecure !== undefined && typeof insecure !== 'boolean')
    throw wrong(where, 'insecure', 'true or false', insecure);
  if (imports !== undefined && !Array.isArray(imports)) throw wrong(where, 'imports', 'an array', imports);
  const areDecorators = Array.isArray(decorators) && decorators.every((one) => typeof one === 'function');
  if (decorators !== undefined && !areDecorators)
    throw wrong(where, 'decorators', 'an array of class decorators', decorators);
}

function checkParts(options: Omit<BloomDashboardFactoryOptions, 'auth'>, where: string): void {
  const { readOnly, who, series = [], actions = [], maxViewers, hosts } = options;
  if (readOnly !== undefined && typeof readOnly !== 'boolean' && typeof readOnly !== 'function')
    throw wrong(where, 'readOnly', 'true, false or a function of the request', readOnly);
  if (who !== undefined && typeof who !== 'function')
    throw wrong(where, 'who', 'a function of the request', who);
  if (maxViewers !== undefined && !(Number.isInteger(maxViewers) && maxViewers >= 1))
    throw wrong(where, 'maxViewers', 'a number of at least 1', maxViewers);
  if (hosts !== undefined && !(Array.isArray(hosts) && hosts.every(isHostName)))
    throw wrong(where, 'hosts', "an array of names such as 'bloom.internal', without scheme and port", hosts);
  checkNamed({ where, option: 'series', list: series, known: SERIES, method: 'read' });
  checkNamed({ where, option: 'actions', list: actions, known: ACTION, method: 'run' });
}

function checkNamed({
  where,
  option,
  list,
  known,
  method,
}: {
  where: string;
  option: string;
  list: readonly { readonly name: string }[];
  known: Record<string, true>;
  method: string;
}): void {
  if (!Array.isArray(list)) throw wrong(where, option, 'an array', list);
  const names = new Set<string>();
  list.forEach((one: Record<string, unknown>, i) => {
    if (typeof one !== 'object' || one === null || typeof one['name'] !== 'string' || one['name'] === '')
      throw wrong(where, `${option}[${i}]`, 'an object with a name', one);
    checkOptions(one, { where, path: `${option}[${i}].`, known });
    if (typeof one[method] !== 'function')
      throw wrong(where, `${option}[${i}].${method}`, 'a function', one[method]);
    if (names.has(one['name'])) throw new BloomConfigError(twiceNamed(where, option, one['name']));
    names.add(one['name']);
  });
}

function isHostName(host: unknown): boolean {
  return typeof host === 'string' && /^[^\s:/?#@\\]+$/.test(host) && hostNameOf(host) !== undefined;
}

function wrong(where: string, option: string, expected: string, got: unknown): BloomConfigError {
  return new BloomConfigError(wrongDashboardOption(where, option, expected, got));
}
