import type { Expectation } from './options-check.js';

export const TRUE_OR_FALSE: Expectation = ['true or false', (value) => typeof value === 'boolean'];
export const AN_ARRAY: Expectation = ['an array', Array.isArray];
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

export function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function isInteger(from: number, to: number): (value: unknown) => boolean {
  return (value) => Number.isSafeInteger(value) && isNumber(from, to)(value);
}

export function isNumber(from: number, to: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && value >= from && value <= to;
}

export function isAbove(least: number): (value: unknown) => boolean {
  return (value) => typeof value === 'number' && value > least && value < Infinity;
}
