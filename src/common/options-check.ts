import { noSuchOption, notOptions, optionWithoutValue, wrongOption } from './common.messages.js';
import { BloomConfigError } from './errors.js';
import { nearestName } from './texts.js';

/** What an option has to be, as the end of "expected … to be", and whether a value is that. */
export type Expectation = readonly [expected: string, holds: (value: unknown) => boolean];

/** The rules of an object of options. Options that are left out, or undefined, have their default. */
export interface OptionsRules {
  /** Every option that there is. `true`: it may have any value, or is checked elsewhere. */
  readonly known: Readonly<Record<string, true | Expectation | NestedOptions>>;
  /** Options without a default. */
  readonly needed?: readonly string[];
  /** Options that are a mistake when they are given as undefined: their default means something else. */
  readonly valued?: readonly string[];
  /** What to write instead of a name that is an option of something else, or of another library. */
  readonly elsewhere?: (name: string) => string | undefined;
}

/** An object among the options. */
export interface NestedOptions extends OptionsRules {
  /** Values that may stand in its place. */
  readonly or?: readonly unknown[];
  /** Whether a function may. */
  readonly orFunction?: boolean;
  /** Default: `an object`. */
  readonly expected?: string;
}

export interface OptionsCheck extends NestedOptions {
  /** Whose options they are, for people: `Filter 'products'`. */
  readonly where: string;
  /** Where they stand, with the dot after it: `rebuild.`; empty for options that stand on their own. */
  readonly path?: string;
}

/**
 * Rules of all options of a type, for the compiler: `{ cron: [CRON, isText], … } satisfies
 * OptionTable<Schedule>`.
 */
export type OptionTable<Options> = {
  readonly [Name in keyof Options]-?: true | Expectation | NestedOptions;
};

/** The same where the values are checked elsewhere. */
export type OptionNames<Options> = Record<keyof Options, true>;

/**
 * Refuses what is not an object of options, an unknown option, one of `valued` without a value, and a wrong
 * value.
 *
 * @throws {BloomConfigError} that says what was expected, or which option was probably meant.
 */
export function checkOptions(options: unknown, check: OptionsCheck): void {
  const { where, path = '', known, needed = [], valued = [] } = check;
  if (!isRecord(options)) throw new BloomConfigError(notOptions(where, objectOf(check), options));
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined && valued.includes(name))
      throw new BloomConfigError(optionWithoutValue(where, path + name, value));
    if (Object.hasOwn(known, name) || value === undefined) continue;
    throw new BloomConfigError(noSuchOption(where, path + name, advice(name, check)));
  }
  const expect = expecter(where);
  for (const [name, rule] of Object.entries(known)) {
    const value = options[name];
    if (rule === true || (value === undefined && !needed.includes(name))) continue;
    if (!('known' in rule)) expect(path + name, value, rule[0], rule[1](value));
    else if (!rule.or?.includes(value) && !(rule.orFunction && isFunction(value)))
      checkOptions(value, { ...rule, where, path: `${path}${name}.` });
  }
}

/** Refuses an option unless what is expected of it holds: where that depends on other options. */
export type Expect = (option: string, got: unknown, expected: string, holds: boolean) => void;

/**
 * Throws a `BloomConfigError` for an option whose value does not hold.
 *
 * @param where whose options they are, for people
 */
export function expecter(where: string): Expect {
  return (option, got, expected, holds) => {
    if (!holds) throw new BloomConfigError(wrongOption(where, option, expected, got));
  };
}

function isRecord(options: unknown): options is Readonly<Record<string, unknown>> {
  return typeof options === 'object' && options !== null && !Array.isArray(options);
}

function objectOf({ path = '', known, expected = 'an object' }: OptionsCheck): string {
  return path === ''
    ? `an object with the options ${Object.keys(known).join(', ')}`
    : `${path.slice(0, -1)} to be ${expected}`;
}

function advice(name: string, { path = '', known, elsewhere }: OptionsCheck): string {
  const other = elsewhere?.(name);
  if (other !== undefined) return other;
  const names = Object.keys(known);
  const near = nearestName(name, names);
  if (near !== undefined) return `Did you mean '${path}${near}'?`;
  const owner = path === '' ? '' : `of ${path.slice(0, -1)} `;
  return `The options ${owner}are ${names.join(', ')}. Leave it out, or correct its spelling.`;
}

/** A boolean. */
export const TRUE_OR_FALSE: Expectation = ['true or false', (value) => typeof value === 'boolean'];
/** An array. */
export const AN_ARRAY: Expectation = ['an array', Array.isArray];
/** A function. */
export const A_FUNCTION: Expectation = ['a function', isFunction];
export const A_SHARE: Expectation = ['a share from 0 to 1', isNumber(0, 1)];

/** What a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export function milliseconds(least: number, expected = 'a number of milliseconds'): Expectation {
  return [expected, isInteger(least, MAX_DELAY_MS)];
}

/** At least two names. */
export function oneOf(...names: string[]): Expectation {
  const quoted = names.map((name) => `'${name}'`);
  const text = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return [text, (value) => names.includes(value as string)];
}

/** Whether it is a function. */
export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/** Whether it is a text that is not empty. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Whether a value is a safe integer in these bounds. */
export function isInteger(from: number, to: number): (value: unknown) => boolean {
  return (value) => Number.isSafeInteger(value) && isNumber(from, to)(value);
}

export function isNumber(from: number, to: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && value >= from && value <= to;
}

export function isAbove(least: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && value > least && value < Infinity;
}
