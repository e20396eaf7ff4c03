import { BloomConfigError, checkOptions, type OptionNames } from '../common/index.js';
import { validateAfterwards, wrongOption } from './guard.messages.js';
import type {
  BloomGuardDefaults,
  BloomGuardedManyOptions,
  BloomGuardedOptions,
  BloomRegistersOptions,
} from './guard-options.js';

const GUARDED = {
  id: true,
  param: true,
  onAbsent: true,
  onUnknown: true,
  onInvalid: true,
  onThrow: true,
  isFound: true,
  coalesce: true,
} satisfies OptionNames<BloomGuardedOptions>;

const REGISTERS = {
  from: true,
  id: true,
  maxIds: true,
  validate: true,
  onError: true,
} satisfies OptionNames<BloomRegistersOptions>;

/**
 * Checks what the types check, for callers without them.
 *
 * @throws {BloomConfigError} for an option that cannot work.
 */
export function checkRegistersOptions(options: BloomRegistersOptions, where: string): void {
  checkOptions(options, { where, known: REGISTERS });
  const { from, validate } = options;
  expect(validate === undefined || isFunction(validate), where, 'validate', 'a function', validate);
  if (validate && from === 'result') throw new BloomConfigError(validateAfterwards(where));
}

/**
 * Checks what the types check, for callers without them.
 *
 * @param where for people: `@BloomGuarded('products') on ProductRepository.find`.
 * @throws {BloomConfigError} for an option that cannot work.
 */
export function checkGuardedOptions(options: BloomGuardedOptions, where: string): void {
  checkOptions(options, { where, known: GUARDED });
  checkGuardDefaults(options, where);
  const { isFound, coalesce } = options;
  for (const option of ['id', 'param'] as const) {
    const place = options[option];
    const isPlace = place === undefined || typeof place === 'string' || isFunction(place);
    expect(isPlace, where, option, 'a name or a function', place);
  }
  expect(isFound === undefined || isFunction(isFound), where, 'isFound', 'a function', isFound);
  expect(
    coalesce === undefined || coalesce === false || isFunction((coalesce as { key?: unknown } | null)?.key),
    where,
    'coalesce',
    "an object { key: (...args) => string } that names what the result depends on beside the id, or key: () => '' if on nothing",
    coalesce,
  );
}

/** The same for a decorator of methods that look up many. */
export function checkManyOptions(options: BloomGuardedManyOptions, where: string): void {
  checkOptions(options, { where, known: { key: true } satisfies OptionNames<BloomGuardedManyOptions> });
  const { key } = options;
  expect(key === undefined || isFunction(key), where, 'key', 'a function of a row that returns its id', key);
}

/** @throws {BloomConfigError} for an option that cannot work. */
export function checkGuardDefaults(options: BloomGuardDefaults, where: string): void {
  const { onAbsent, onUnknown, onInvalid, onThrow } = options;
  expect(
    onAbsent === undefined ||
      ['not-found', 'null', 'empty'].includes(onAbsent as string) ||
      isFunction(onAbsent),
    where,
    'onAbsent',
    "'not-found', 'null', 'empty' or a function",
    onAbsent,
  );
  expect(
    onUnknown === undefined || onUnknown === 'pass' || onUnknown === 'unavailable' || isFunction(onUnknown),
    where,
    'onUnknown',
    "'pass', 'unavailable' or a function",
    onUnknown,
  );
  expect(
    onInvalid === undefined || onInvalid === 'pass' || onInvalid === 'absent' || isFunction(onInvalid),
    where,
    'onInvalid',
    "'pass', 'absent' or a function",
    onInvalid,
  );
  expect(
    onThrow === undefined || onThrow === 'unknown' || onThrow === 'invalid',
    where,
    'onThrow',
    "'unknown' or 'invalid'",
    onThrow,
  );
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function expect(holds: boolean, where: string, option: string, expected: string, got: unknown): void {
  if (!holds) throw new BloomConfigError(wrongOption(option, where, expected, got));
}
