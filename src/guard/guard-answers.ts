import {
  BadRequestException,
  type HttpException,
  NotFoundException,
  ServiceUnavailableException,
} from '@nestjs/common';
import { type CallContext, FOR_CLIENTS } from './call-context.js';
import { BloomOverloadError, type UnjudgedCall } from '../service/index.js';
import type { GuardAnswer, GuardDeclaration, GuardDecision, GuardedCall } from './guarded-call.js';
import { otherAnswer } from './guard.messages.js';
import type { BloomCallback, BloomGuardDefaults } from './guard-options.js';

/** What is answered in place of the method: as the decorator says, else as the application says. */
export class GuardAnswers {
  private readonly advised = new WeakSet<object>();

  constructor(readonly defaults: BloomGuardDefaults = {}) {}

  absent(call: GuardedCall): GuardAnswer | Promise<GuardAnswer> {
    const { guard, entry, args } = call;
    if (entry.denied) return entry.denied;
    let answer = entry.absent ?? guard.options.onAbsent ?? this.defaults.onAbsent;
    if (answer === undefined) {
      const context = entry.context();
      const isNull = context === 'graphql' ? entry.isNullable(args) : !FOR_CLIENTS.has(context);
      answer = isNull ? 'null' : 'not-found';
    }
    switch (answer) {
      case 'null':
        return { value: null, error: undefined };
      case 'empty':
        return { value: [], error: undefined };
      case 'not-found':
        return failing(notFoundError(entry.context(), guard.method));
      default:
        return this.from(answer, call);
    }
  }

  unknown(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const answer = this.onUnknown(call);
    if (answer === 'pass') return undefined;
    if (typeof answer === 'object') {
      // An interceptor takes the place when somebody waits for the route.
      call.isPlaceDue = Boolean(call.guard.options.coalesce) || call.self === undefined;
      return call.isPlaceDue ? undefined : this.takePlace(call);
    }
    call.filter?.guarding.recordSaved(call.guard);
    if (answer === 'unavailable') return failing(unavailableError(call.entry.context()));
    return this.from(answer, call);
  }

  /** Takes a place in the budget for the method of a call that the filter cannot judge. */
  takePlace(call: GuardedCall): GuardDecision | Promise<GuardDecision> {
    const budget = call.filter?.guarding.budget;
    if (!budget) return undefined;
    const entered = budget.enter(call.key === undefined ? [] : [call.key]);
    if (entered instanceof Promise) return entered.then((unjudged) => this.entered(call, unjudged));
    return this.entered(call, entered);
  }

  private entered(
    call: GuardedCall,
    unjudged: UnjudgedCall | undefined,
  ): GuardDecision | Promise<GuardDecision> {
    call.unjudged = unjudged;
    if (unjudged) return undefined;
    const { guard, entry } = call;
    call.filter!.guarding.recordSaved(guard);
    return failing(overloadError(entry.context(), guard));
  }

  /** What is done with a value that cannot be the id of any row: the call is let through, or answered. */
  onInvalid(call: GuardedCall): 'pass' | 'absent' | 'unknown' | BloomCallback<unknown> {
    const { guard, entry } = call;
    const chosen = guard.options.onInvalid ?? this.defaults.onInvalid;
    if (chosen !== undefined) return chosen;
    if (FOR_CLIENTS.has(entry.context())) return 'absent';
    const unknown = this.onUnknown(call);
    return unknown === 'pass' || typeof unknown === 'object' ? 'pass' : 'unknown';
  }

  /** What an error says that a function of the application has thrown over a value. */
  onThrow({ guard }: GuardedCall): 'unknown' | 'invalid' {
    return guard.options.onThrow ?? this.defaults.onThrow ?? 'unknown';
  }

  /**
   * Once for a guard that answers null by default, on a method that ends otherwise when it finds nothing:
   * types do not tell it from a route.
   *
   * @param thrown the name of the error; undefined for a list.
   */
  adviceOn({ guard, entry }: GuardedCall, thrown: string | undefined): string | undefined {
    const isChosen = (guard.options.onAbsent ?? this.defaults.onAbsent) !== undefined;
    if (isChosen || entry.context() !== 'method' || this.advised.has(guard)) return undefined;
    this.advised.add(guard);
    return otherAnswer(guard.method, guard.filter, thrown);
  }

  async from(answer: BloomCallback<unknown>, { self, args }: GuardedCall): Promise<GuardAnswer> {
    return { value: await answer.apply(self, [...args]), error: undefined };
  }

  private onUnknown({ guard }: GuardedCall): NonNullable<BloomGuardDefaults['onUnknown']> {
    return guard.options.onUnknown ?? this.defaults.onUnknown ?? {};
  }
}

/** At once where no package has to be loaded for the error. */
function failing(error: Error | Promise<Error>): GuardAnswer | Promise<GuardAnswer> {
  if (error instanceof Error) return { value: undefined, error };
  return error.then((loaded) => ({ value: undefined, error: loaded }));
}

/** The packages are loaded only for a handler that their own decorators have marked. */
const CLASSES = {
  ws: { from: '@nestjs/websockets', name: 'WsException' },
  rpc: { from: '@nestjs/microservices', name: 'RpcException' },
} as const;

/** The error by which Nest answers a client of this context that there is no such thing. */
export function notFoundError(context: CallContext, method: string): Error | Promise<Error> {
  return errorOf(
    context,
    withoutCalls(() => new NotFoundException(), method),
  );
}

/** The error of a call that the filter cannot judge, and that is one too many. */
export function overloadError(
  context: CallContext,
  { filter, method }: Pick<GuardDeclaration, 'filter' | 'method'>,
): Error | Promise<Error> {
  return errorOf(
    context,
    withoutCalls(() => new BloomOverloadError(filter), method),
  );
}

/**
 * In place of the calls that led to the guard, the stack names the guarded method: an attack brings an error
 * for each request, and to collect those calls takes a tenth of what a request takes.
 */
function withoutCalls<Made extends HttpException>(make: () => Made, method: string): Made {
  const limit = Error.stackTraceLimit;
  // With `--frozen-intrinsics`, for example, the limit cannot be set.
  if (Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')?.writable !== true) return make();
  Error.stackTraceLimit = 0;
  let error: Made;
  try {
    error = make();
  } finally {
    Error.stackTraceLimit = limit;
  }
  if (limit > 0) error.stack = `${error.name}: ${error.message}\n    at @BloomGuarded on ${method}`;
  return error;
}

/** The error by which Nest answers a client that what it has sent cannot be used. The cause is not sent. */
export function badRequestError(context: CallContext, cause: unknown): Error | Promise<Error> {
  return errorOf(context, new BadRequestException(undefined, { cause, description: 'Bad Request' }));
}

/** The error by which Nest answers a client of this context that it may try again later. */
export function unavailableError(context: CallContext, cause?: unknown): Error | Promise<Error> {
  return errorOf(
    context,
    new ServiceUnavailableException(undefined, { cause, description: 'Service Unavailable' }),
  );
}

function errorOf(context: CallContext, http: HttpException): Error | Promise<Error> {
  return context === 'ws' || context === 'rpc' ? errorOfPackage(context, http) : http;
}

async function errorOfPackage(context: keyof typeof CLASSES, http: HttpException): Promise<Error> {
  const { name } = CLASSES[context];
  // A variable: the package is optional, and its types are not needed.
  const from: string = CLASSES[context].from;
  const loaded = await import(from).catch(() => ({}));
  const Class: unknown = loaded[name] ?? loaded.default?.[name];
  if (typeof Class !== 'function') return http;
  const { message, cause } = http;
  const sent = context === 'ws' ? message : { statusCode: http.getStatus(), message };
  const error = Reflect.construct(Class, [sent]) as Error;
  return Object.assign(error, cause !== undefined && { cause });
}
