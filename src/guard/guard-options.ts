import {
  A_FUNCTION,
  BloomConfigError,
  checkOptions,
  type Expectation,
  isFunction,
  isInteger,
  milliseconds,
  oneOf,
  type OptionTable,
  TRUE_OR_FALSE,
} from '../common/index.js';
import type { BloomId, BloomScope } from '../filter/index.js';
import type { BloomUnknownBudget } from '../service/index.js';
import { earlyByFunction, validateAfterwards } from './guard.messages.js';

/** Called with the arguments of the decorated method, and its instance as `this`. */
// oxlint-disable-next-line typescript/no-explicit-any
export type BloomCallback<Result> = (this: any, ...args: any[]) => Result;

/** What a guard answers instead of calling the method, the same for every guard of an application. */
export interface BloomGuardDefaults {
  /**
   * Answers for an absent id. `'not-found'` throws `NotFoundException`, or the `WsException` or
   * `RpcException` that Nest answers a message with; `'null'` resolves null, `'empty'` an empty list. A
   * function is called with the arguments of the method and the instance as `this` (behind
   * `BloomInterceptor`: with the request and no `this`), and may return a value, a promise, or throw.
   * Default: `'not-found'` where a client of Nest waits for the answer, else `'null'`. A method that returns
   * a list has no default, and does not compile without one.
   */
  readonly onAbsent?: 'not-found' | 'null' | 'empty' | BloomCallback<unknown>;

  /**
   * What to do when the filter does not know: it is not built, the store does not answer, or the option `id`
   * failed. `'pass'` calls the method, `'unavailable'` throws `ServiceUnavailableException` or its like for
   * messages, a function answers as `onAbsent` does. An object (default: `{}`) calls the method within a
   * budget, and otherwise throws a `BloomOverloadError`, or its like for messages. See docs/overload.md.
   */
  readonly onUnknown?: 'pass' | 'unavailable' | BloomCallback<unknown> | BloomUnknownBudget;

  /**
   * What to do with a value that cannot be an id: undefined, null, an empty text, a number that is not a safe
   * integer, an array or any other object but bytes. `'absent'` answers as for an absent id, `'pass'` calls
   * the method, a function answers as `onAbsent` does. Default: `'absent'` where a client of Nest chooses the
   * value and waits for the answer, and as `onUnknown` says elsewhere.
   */
  readonly onInvalid?: 'pass' | 'absent' | BloomCallback<unknown>;

  /**
   * What an error of the option `id` or `param`, or of `normalize`, means. `'unknown'` (default): a mistake
   * in the function, so `onUnknown` decides, and an `advice` names the method once. `'invalid'`: the value
   * cannot be an id, so `onInvalid` decides; only for functions that never throw for the id of a row, which
   * would be answered as absent. A `BloomIdError` and an `HttpException` of 400 to 499 always mean
   * `'invalid'`.
   */
  readonly onThrow?: 'unknown' | 'invalid';
}

/** Where the id of one `@BloomGuarded` is, and what it answers where that differs from the defaults. */
export interface BloomGuardedOptions extends Omit<BloomGuardDefaults, 'onUnknown'> {
  /** As for all guards, but for the numbers of the budget: it is that of the filter. */
  readonly onUnknown?: Exclude<BloomGuardDefaults['onUnknown'], BloomUnknownBudget>;

  /**
   * Where the id is: the name of a property of the first argument, or a function of all arguments. Default:
   * the first argument itself. A place where the method has no id is a compile error.
   */
  readonly id?: string | BloomCallback<BloomId>;

  /**
   * The tenant, for a filter with `scoped: true`: a property of the first argument, or a function of all
   * arguments. Behind `BloomInterceptor`: a route parameter, or with `param` a function of the request.
   */
  readonly scope?: string | BloomCallback<BloomScope>;

  /**
   * Where `BloomInterceptor` finds the id: the name of a route parameter, or a function of the request.
   * Default: `id`, if that is set, else the route parameter `id`. A guard that the interceptor does not check
   * cannot have it: the application does not start.
   */
  readonly param?: string | BloomCallback<BloomId>;

  /**
   * Answers an absent id by 404 where the router calls the route: after the middleware, and before guards,
   * pipes, interceptors and exception filters. Behind `BloomInterceptor` alone, for an id that is a route
   * parameter. See docs/security.md. Default: false.
   */
  readonly early?: boolean;

  /**
   * Whether a result stands for a row. Called as the method is, with the result before the arguments; behind
   * `BloomInterceptor` with the result and the request. Null and undefined never do. Default: all others but
   * `false` and an empty array. A method that returns a default (`{}`, 0) where there is no row needs it.
   */
  readonly isFound?: BloomCallback<boolean>;

  /**
   * Lets calls that run at the same time on one object share one call of the method, and its result, where
   * their ids and their keys are equal. Not behind `BloomInterceptor`. Default: no call is shared.
   */
  readonly coalesce?: BloomCoalesceOptions | false;
}

/** Which calls of a method may share one. */
export interface BloomCoalesceOptions {
  /**
   * Names all that the result depends on beside the id: further arguments, and the user, tenant or
   * transaction of an `AsyncLocalStorage` (a shared call runs in the context of the first caller). Called as
   * the method is. Undefined: this call is not shared. `key: () => ''`: the result depends on the id alone.
   *
   * Calls for an id that this process added within the last `drainMs` are not shared; for one that another
   * process added, the shared call may have begun before, and finds nothing.
   */
  readonly key: BloomCallback<string | undefined>;
}

/** How one `@BloomGuardedMany` orders its answer. */
export interface BloomGuardedManyOptions {
  /** The tenant, for a filter with `scoped: true`, called as the method is. */
  readonly scope?: BloomCallback<BloomScope>;

  /**
   * The id of a row, called with the instance as `this`. With it, the answer has one element for each id of
   * the caller, in that order, and null for an id without a row: a method whose list has no null by its type
   * does not compile. Default: the answer is what the method returned.
   */
  readonly key?: BloomCallback<BloomId>;
}

/** Where the id of one `@BloomRegisters` is, and when it is recorded. */
export interface BloomRegistersOptions {
  /**
   * `'argument'` (default): the id is added before the method runs; a create that fails costs one false
   * positive. `'result'`: the database makes the id, which is added when the method has returned, before its
   * caller gets the result. Until then a client may be told that the row is absent, and a crash loses the id
   * until the next rebuild; `filter.add(id)` inside the transaction has no such window.
   */
  readonly from?: 'argument' | 'result';

  /**
   * Where the id is: the name of a property of the first argument (or of the result), or a function of all
   * arguments (or of the result and then all arguments). Default: the first argument (or the result) itself.
   * Only a function may give several ids, as an array, or none: elsewhere an array may come from a request.
   *
   * With `from: 'argument'` it is read again after the method, which may have changed its argument. Ids that
   * it, or the property of that name of the result, gives then are recorded as well, with an advice.
   */
  readonly id?: string | BloomCallback<BloomId | readonly BloomId[]>;

  /** The tenant, for a filter with `scoped: true`, found as `id` is. */
  readonly scope?: string | BloomCallback<BloomScope>;

  /**
   * How many ids the function `id` may give for one call with `from: 'argument'`; a call with more is refused
   * before the method runs. With `from: 'result'` the rows exist, and all are recorded. Default 1,000.
   */
  readonly maxIds?: number;

  /**
   * Refuses a call by throwing, before its id is added: what the method would refuse itself, such as a name
   * that is taken. Called as the method is, before `id`; a promise is awaited. An answer rejects the call
   * with a `BloomConfigError`. Not with `from: 'result'`. Default: nothing is refused.
   */
  readonly validate?: BloomCallback<void | Promise<void>>;

  /**
   * What to do when the id cannot be recorded now. `'throw'` (default): the call rejects; with `from:
   * 'argument'` the method has not run, with `from: 'result'` it has. `'queue'`: the call goes on. This
   * process keeps up to 10,000 such ids of a filter, of 16 MiB at most, lets them pass, and tries until they
   * are recorded. Other processes do not know them until then, and a crash loses them until the next rebuild.
   */
  readonly onError?: 'throw' | 'queue';
}

const PLACE: Expectation = [
  'a name or a function',
  (value) => typeof value === 'string' || isFunction(value),
];

/** @param words texts that may stand in the place of a function. */
function wordsOrFunction(expected: string, ...words: string[]): Expectation {
  return [`${expected} or a function`, (value) => words.includes(value as string) || isFunction(value)];
}

const PASS_OR_UNAVAILABLE = wordsOrFunction("'pass', 'unavailable'", 'pass', 'unavailable');

const BUDGET = {
  concurrent: ['a number of calls from 1 on', isInteger(1, Number.MAX_SAFE_INTEGER)],
  queue: ['a number of calls from 0 to 100000', isInteger(0, 100_000)],
  waitMs: milliseconds(0),
} satisfies OptionTable<BloomUnknownBudget>;

const ANSWERS = {
  onAbsent: wordsOrFunction("'not-found', 'null', 'empty'", 'not-found', 'null', 'empty'),
  onUnknown: PASS_OR_UNAVAILABLE,
  onInvalid: wordsOrFunction("'pass', 'absent'", 'pass', 'absent'),
  onThrow: oneOf('unknown', 'invalid'),
} satisfies OptionTable<Pick<BloomGuardedOptions, keyof BloomGuardDefaults>>;

/** The options of `BloomGuardDefaults`, and what each has to be. */
export const GUARD_DEFAULTS = {
  ...ANSWERS,
  onUnknown: {
    known: BUDGET,
    or: ['pass', 'unavailable'],
    orFunction: true,
    expected: "'pass', 'unavailable', a function or { concurrent, queue, waitMs }",
  },
} satisfies OptionTable<BloomGuardDefaults>;

const GUARDED = {
  id: PLACE,
  scope: PLACE,
  param: PLACE,
  ...ANSWERS,
  early: TRUE_OR_FALSE,
  isFound: A_FUNCTION,
  coalesce: [
    "an object { key: (...args) => string } that names what the result depends on beside the id, or key: () => '' if on nothing",
    (value) => value === false || isFunction((value as { key?: unknown } | null)?.key),
  ],
} satisfies OptionTable<BloomGuardedOptions>;

const MANY = {
  scope: A_FUNCTION,
  key: ['a function of a row that returns its id', isFunction],
} satisfies OptionTable<BloomGuardedManyOptions>;

const REGISTERS = {
  from: true,
  id: true,
  scope: PLACE,
  maxIds: ['a number of ids from 1 on', isInteger(1, Number.MAX_SAFE_INTEGER)],
  validate: A_FUNCTION,
  onError: true,
} satisfies OptionTable<BloomRegistersOptions>;

/**
 * Checks what the types check, for callers without them.
 *
 * @param where for people: `@BloomGuarded('products') on ProductRepository.find`.
 * @throws {BloomConfigError} for an option that there is not, or that cannot work.
 */
export function checkGuardedOptions(options: BloomGuardedOptions, where: string): void {
  checkOptions(options, { where, known: GUARDED });
  const { early, param, id, scope = '', onAbsent = 'not-found' } = options;
  const isByFunction = [param ?? id ?? '', scope].some((place) => typeof place !== 'string');
  if (early && (isByFunction || onAbsent !== 'not-found')) throw new BloomConfigError(earlyByFunction(where));
}

/** The same for a decorator of methods that look up many. */
export function checkManyOptions(options: BloomGuardedManyOptions, where: string): void {
  checkOptions(options, { where, known: MANY });
}

/** The same for a decorator of methods that create rows. */
export function checkRegistersOptions(options: BloomRegistersOptions, where: string): void {
  checkOptions(options, { where, known: REGISTERS });
  if (options.validate && options.from === 'result') throw new BloomConfigError(validateAfterwards(where));
}

/** What bounds the calls that a filter cannot judge; undefined where `onUnknown` says something else. */
export function budgetOf({ onUnknown = {} }: BloomGuardDefaults = {}): BloomUnknownBudget | undefined {
  return typeof onUnknown === 'object' ? onUnknown : undefined;
}
