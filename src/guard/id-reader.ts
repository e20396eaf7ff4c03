import { HttpException } from '@nestjs/common';
import { BloomIdError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomCallback } from './guard-options.js';
import { arrayForOneId, tooManyIds } from './guard.messages.js';
import { syncAnswer } from './sync-answer.js';

/**
 * Reads the id in the arguments of a call.
 *
 * @throws what a function of the application throws, and a TypeError when it returns a promise: a mistake of the application, and no value
 *   that cannot be an id.
 */
export type IdReader = (self: unknown, args: readonly unknown[]) => unknown;

/** As `IdReader`, for a call that creates rows: one id, or several where the application's own function returns an array. */
export type IdsReader = (self: unknown, args: readonly unknown[]) => readonly BloomId[];

/** Turns the option `id` into a function, once for a decorator: the first argument, a property of it, or what a function makes of all. */
export function idReader(id: string | BloomCallback<unknown> | undefined): IdReader {
  if (id === undefined) return (_, args) => args[0];
  if (typeof id === 'string') return (_, args) => (args[0] as Record<string, unknown> | undefined)?.[id];
  return (self, args) => syncAnswer('the option id', id.apply(self, [...args]));
}

/**
 * The same for a decorator whose calls create rows. An array that comes with a request may stand where one id was meant, so only the
 * application's own function may give several ids. Whether a value is an id, the filter decides.
 *
 * @throws {BloomIdError} in the function: for an array that no function gave, and for more ids than `maxIds`.
 */
export function idsReader(id: string | BloomCallback<unknown> | undefined, maxIds: number): IdsReader {
  const readId = idReader(id);
  return (self, args) => {
    const found = readId(self, args);
    if (!Array.isArray(found)) return [found as BloomId];
    if (typeof id !== 'function') throw new BloomIdError(arrayForOneId(id, found.length));
    if (found.length > maxIds) throw new BloomIdError(tooManyIds(maxIds, found.length));
    return found as BloomId[];
  };
}

/** Whether a function of the application says that the client's value is not an id, in place of failing. */
export function isInvalidId(error: unknown): boolean {
  if (error instanceof BloomIdError) return true;
  return error instanceof HttpException && error.getStatus() >= 400 && error.getStatus() < 500;
}
