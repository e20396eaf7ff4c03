import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** What keeps the shop from starting is thrown as well, and reported where it is caught. */
const CONTEXTS_OF_THE_START: readonly unknown[] = ['ExceptionHandler', 'NestApplication'];

/** Standard output belongs to the figures of the demo. */
export class StandardErrorLogger extends ConsoleLogger {
  override error(message: unknown, ...rest: unknown[]): void {
    if (!CONTEXTS_OF_THE_START.includes(rest.at(-1))) super.error(message, ...rest);
  }

  protected override printMessages(messages: unknown[], context?: string, logLevel?: LogLevel): void {
    super.printMessages(messages, context, logLevel, 'stderr');
  }
}
