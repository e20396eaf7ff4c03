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
