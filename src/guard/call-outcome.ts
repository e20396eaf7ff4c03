import { HttpException, HttpStatus } from '@nestjs/common';
import type { CallOutcome } from './bloom-guard.runner.js';

/** What a result says of the id that was looked up. */
export function outcomeOfResult(result: unknown): CallOutcome {
  return result === null || result === undefined ? 'nothing' : 'found';
}

/** What an error says of the id that was looked up. */
export function outcomeOfError(error: unknown): CallOutcome {
  return error instanceof HttpException && error.getStatus() === HttpStatus.NOT_FOUND ? 'nothing' : 'failed';
}

/** Runs a method that a guard let through, and tells the guard how it ended. */
export async function observed(
  proceed: () => Promise<unknown>,
  settle: (outcome: CallOutcome) => void,
): Promise<unknown> {
  let result: unknown;
  try {
    result = await proceed();
  } catch (error) {
    settle(outcomeOfError(error));
    throw error;
  }
  settle(outcomeOfResult(result));
  return result;
}
