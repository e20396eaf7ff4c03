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
