import { BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomCallback } from './guard.options.js';
import { syncAnswer } from './sync-answer.js';

/**
 * The id in the arguments of a call: the first, a property of it, or what a function makes of all.
 *
 * @throws {TypeError} when the function returns a promise: a mistake of the application, not a value that is no id.
 */
export function readId(
  id: string | BloomCallback<unknown> | undefined,
  self: unknown,
  args: readonly unknown[],
): unknown {
  if (typeof id === 'function') return syncAnswer('the option id', id.apply(self, [...args]));
  return id === undefined ? args[0] : (args[0] as Record<string, unknown> | undefined)?.[id];
}

/**
 * The ids of a call that creates rows: one, or those that a function gives. What comes with a request may be an array where one id was
 * meant, so only the application's own function may give several.
 *
 * @throws {BloomIdError} for an array that no function gave, and for more ids than `maxIds`.
 */
export function readIds(
  options: { readonly id?: string | BloomCallback<unknown> | undefined; readonly maxIds: number },
  self: unknown,
  args: readonly unknown[],
): readonly BloomId[] {
  const { id, maxIds } = options;
  const found = readId(id, self, args);
  // Whether it is an id is for the filter to say.
  if (!Array.isArray(found)) return [found as BloomId];
  if (typeof id !== 'function') {
    const place = id === undefined ? '' : ` in '${id}'`;
    throw new BloomIdError(
      `Expected one id${place}, got an array of ${found.length}. Where a call creates several rows, give the option id a function ` +
        'that returns their ids.',
    );
  }
  if (found.length > maxIds) {
    throw new BloomIdError(
      `Expected at most ${maxIds} ids of one call, got ${found.length}. Create the rows in smaller parts, or raise the option maxIds.`,
    );
  }
  return found as BloomId[];
}
