import { BloomConfigError, printed } from '../common/index.js';

/**
 * Refuses what is no object of options, and an option that the layout does not have.
 *
 * @param layout name of the function that was called
 * @throws {BloomConfigError}
 */
export function checkOptionNames(layout: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new BloomConfigError(
      `${layout}(): expected an object with the options ${known.join(', ')}, got ${printed(options)}.`,
    );
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new BloomConfigError(
      `${layout}(): expected no option ${printed(name)}: it has the options ${known.join(', ')}. Leave it out, or correct its spelling.`,
    );
  }
}
