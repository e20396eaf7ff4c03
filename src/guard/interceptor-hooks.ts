import type { ExecutionContext } from '@nestjs/common';

/** Which of the methods that a subclass may override it has. */
export interface Hooks {
  readonly filterOf: boolean;
  readonly idOf: boolean;
  readonly answerAbsent: boolean;
  readonly any: boolean;
}

/** @param base where the methods are that have not been overridden. */
export function hooksOf(interceptor: object, base: object): Hooks {
  const own = interceptor as Record<string, unknown>;
  const inherited = base as Record<string, unknown>;
  const [filterOf, idOf, answerAbsent] = ['filterOf', 'idOf', 'answerAbsent'].map(
    (name) => own[name] !== inherited[name],
  );
  return {
    filterOf: filterOf!,
    idOf: idOf!,
    answerAbsent: answerAbsent!,
    any: filterOf! || idOf! || answerAbsent!,
  };
}

/** One object for all interceptors of a call. */
export function callOf(context: ExecutionContext): object {
  return context.getType() === 'http'
    ? context.switchToHttp().getRequest<object>()
    : context.getArgs<unknown[]>();
}

/** Of a guard: the request, or what Nest calls the handler of a message with. */
export function argumentsOf(context: ExecutionContext): readonly unknown[] {
  return context.getType() === 'http' ? [context.switchToHttp().getRequest()] : context.getArgs<unknown[]>();
}
