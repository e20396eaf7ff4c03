import { describeError } from 'nestjs-bloom/internal';

/** How a command ended, for scripts. */
export const EXIT = {
  fine: 0,
  /** It failed, or what was looked for is not so. */
  failed: 1,
  /** What was typed cannot be understood. Of `doctor`: an error was found. */
  usage: 2,
  /** Interrupted by Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;

/** A mistake in the command, or something that is in its way: a message says all there is to say. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.failed,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What was typed cannot be understood. */
export function usageError(message: string): CliError {
  return new CliError(message, EXIT.usage);
}

/** Text of an error. One of the library begins with its code, also one of another copy of the library. */
export function withCode(error: unknown): string {
  const text = describeError(error);
  return isBloomError(error) ? `${error.code}: ${text}` : text;
}

export function isBloomError(error: unknown): error is { readonly code: string } {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && code.startsWith('BLOOM_');
}
