import type { BloomCallback } from './guard.options.js';

/** The id in the arguments of a call: the first, a property of it, or what a function makes of all. */
export function readId(
  id: string | BloomCallback<unknown> | undefined,
  self: unknown,
  args: readonly unknown[],
): unknown {
  if (typeof id === 'function') return id.apply(self, [...args]);
  return id === undefined ? args[0] : (args[0] as Record<string, unknown> | undefined)?.[id];
}
