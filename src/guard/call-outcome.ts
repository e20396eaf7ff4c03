import { HttpException, HttpStatus } from '@nestjs/common';
import { wrongIsFound } from './guard.messages.js';
import type { BloomCallback } from './guard-options.js';
import { syncAnswer } from './sync-answer.js';

/**
 * What the end of a call shows about its id. `denied`: the method returned null or threw NotFound. `nothing`: it returned something
 * else that stands for nothing. `unclear`: it failed, or returned a stream, whose values are not known yet.
 */
export type CallOutcome = 'found' | 'denied' | 'nothing' | 'unclear';

/** @throws what `isFound` throws, and a TypeError when it returns no boolean. */
export function outcomeOfResult(
  result: unknown,
  call: { readonly isFound: BloomCallback<boolean> | undefined; self: unknown; args: readonly unknown[] },
): CallOutcome {
  if (result === null) return 'denied';
  if (result === undefined) return 'nothing';
  const { isFound, self, args } = call;
  if (isFound) return isTrue(isFound.apply(self, [result, ...args])) ? 'found' : 'nothing';
  if (result === false) return 'nothing';
  if (Array.isArray(result)) return result.length > 0 ? 'found' : 'nothing';
  return isStream(result) ? 'unclear' : 'found';
}

/** What an error shows about the id that was looked up. */
export function outcomeOfError(error: unknown): CallOutcome {
  return error instanceof HttpException && error.getStatus() === HttpStatus.NOT_FOUND ? 'denied' : 'unclear';
}

/** By these TypeORM, MikroORM, Kysely and Mongoose say that there is no such row. */
const NOT_FOUND = ['EntityNotFoundError', 'NotFoundError', 'NoResultError', 'DocumentNotFoundError'];
/** The code by which Prisma does. */
const PRISMA_NOT_FOUND = 'P2025';

/** The name of an error that probably says that there is no such row; undefined for any other. */
export function notFoundError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (outcomeOfError(error) === 'denied') return 'NotFoundException';
  const name = error.constructor.name;
  const isKnown = NOT_FOUND.includes(name) || (error as { code?: unknown }).code === PRISMA_NOT_FOUND;
  return isKnown ? name : undefined;
}

/** The type of a result, for messages: its contents may be private. */
export function typeOfResult(result: unknown): string {
  if (typeof result !== 'object' || result === null) return typeof result;
  const name: unknown = Object.getPrototypeOf(result)?.constructor?.name;
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'object';
  return `object of class ${name}`;
}

function isTrue(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer;
  throw new TypeError(wrongIsFound(typeof syncAnswer('isFound', answer)));
}

function isStream(result: unknown): boolean {
  if (typeof result !== 'object' || result === null) return false;
  const { subscribe, pipe, getStream } = result as Record<string, unknown>;
  return (
    [subscribe, pipe, getStream].some((method) => typeof method === 'function') ||
    Symbol.asyncIterator in result
  );
}
