import { BloomConfigError } from '../common/index.js';
import { noSuchOption, notOptions, wrongLayoutOption } from './layout-options.messages.js';

/**
 * Refuses what is no object of options, and an option that the layout does not have.
 *
 * @param layout name of the function that was called
 * @throws {BloomConfigError}
 */
export function checkOptionNames(layout: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new BloomConfigError(notOptions(layout, known, options));
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw new BloomConfigError(noSuchOption(layout, name, known));
  }
}

/** Refuses an option of one layout unless what is expected of it holds. */
export type ExpectOption = (option: string, got: unknown, expected: string, holds: boolean) => void;

/** @param layout name of the function that was called */
export function expecterOf(layout: string): ExpectOption {
  return (option, got, expected, holds) => {
    if (!holds) throw new BloomConfigError(wrongLayoutOption(layout, option, expected, got));
  };
}
