import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { type Observable, of, tap } from 'rxjs';
import { BloomGuardRunner } from './bloom-guard-runner.js';
import type { GuardDeclaration, EntryPoint, ObservedCall } from './guarded-call.js';
import { noRouteParameter } from './guard.messages.js';
import type { BloomGuardedOptions } from './guard-options.js';
import type { IdReader } from './id-reader.js';
import { isRouteHandler } from './method-site.js';
import { ReaderMistake } from './reader-mistake.js';
import { syncAnswer } from './sync-answer.js';

const GUARDS = Symbol('nestjs-bloom:guards');
/** Metadata that packages of Nest set on a method which they call for messages, events or jobs, not for requests. */
const OTHER_ENTRIES = /^(microservices:|websockets:|graphql:|bull|SCHEDUL|EVENT_LISTENER)/i;
/** The handler whose request the interceptor has checked; set only where a handler is also called for other things. */
const checked = new AsyncLocalStorage<Function>();

/**
 * The other door of `@BloomGuarded`, for a route whose id must be checked before other interceptors (a `CacheInterceptor`) or
 * pipes run. Put it with `@UseInterceptors` on the route or the controller, first. The id is the route parameter `id`, or the
 * one named by the option `param`, or what a function of the request returns; it is the text of the URL, so where a pipe
 * turns two texts into one id (`01` and `1`), use `normalize` of the filter. Where such a method also handles messages
 * (`@MessagePattern`), the id of a message is where it would be without the interceptor: the first argument, or its property.
 * Called directly, past Nest's router, such a method is not guarded. Registered globally it does nothing, and the guarded methods check for themselves.
 *
 * @example
 * ```ts
 * @Get(':sku')
 * @UseInterceptors(BloomInterceptor, CacheInterceptor)
 * @BloomGuarded('products', { param: 'sku' })
 * async findOne(@Param('sku') sku: string): Promise<Product> { … }
 * ```
 */
@Injectable()
export class BloomInterceptor implements NestInterceptor {
  constructor(@Inject(BloomGuardRunner) private readonly runner: BloomGuardRunner) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const handler = context.getHandler();
    if (context.getType() !== 'http' || !declaresInterceptor(handler, context.getClass()))
      return next.handle();
    if (!BloomGuardRunner.isRunner(this.runner)) return next.handle();
    const request = context.switchToHttp().getRequest<HttpRequest>();
    if (!this.runner.meetsFirst(request, handler)) return next.handle();
    const passed: ObservedCall[] = [];
    for (const { guard, entry } of guardsOf(handler)) {
      const { answer, observed } = await this.runner.decide({
        guard,
        entry,
        self: undefined,
        args: [request],
      });
      if (answer) return of(answer.value);
      if (observed) passed.push(observed);
    }
    const stream = hasOtherEntries(handler) ? checked.run(handler, () => next.handle()) : next.handle();
    return this.watch(stream, passed);
  }

  /** The first value of a stream, or its error, shows whether the route found something. */
  private watch(stream: Observable<unknown>, passed: readonly ObservedCall[]): Observable<unknown> {
    if (passed.length === 0) return stream;
    let isSettled = false;
    const settle = (learn: (call: ObservedCall) => void) => {
      if (!isSettled) for (const call of passed) learn(call);
      isSettled = true;
    };
    return stream.pipe(
      tap({
        next: (value) => settle((call) => this.runner.settleResult(call, value)),
        error: (error) => settle((call) => this.runner.settleError(call, error)),
      }),
    );
  }
}

/** What Express and Fastify have in common. */
interface HttpRequest {
  readonly params: Record<string, unknown>;
}

/** A guard of a handler, and how it reads a request. */
interface RoutedGuard {
  readonly guard: GuardDeclaration;
  readonly entry: EntryPoint;
}

/** Notes on the handler that the interceptor can take over this guard. */
export function declareGuard(handler: object, guard: GuardDeclaration): void {
  const { param, id } = guard.options;
  const routed: RoutedGuard = { guard, entry: routeEntry(param ?? id, param === undefined ? 'id' : 'param') };
  Reflect.defineMetadata(GUARDS, [routed, ...guardsOf(handler)], handler);
}

/** Whether the interceptor checks the routed calls of a method, so that its wrapper must not. */
export class InterceptorCoverage {
  // Of the last call. Metadata are looked up once: that takes longer than a check, and decorators have run before any call.
  private handler: unknown;
  private owner: unknown;
  private answer = false;
  private isMixed = false;

  constructor(
    private readonly key: string | symbol,
    private readonly guard: GuardDeclaration,
  ) {}

  /** Whether a call on this object was checked by the interceptor. */
  covers(controller: object): boolean {
    const handler = (controller as Record<PropertyKey, unknown>)[this.key];
    if (handler !== this.handler || controller.constructor !== this.owner) {
      this.handler = handler;
      this.owner = controller.constructor;
      this.answer =
        isRouteHandler(handler) &&
        guardsOf(handler as object).some(({ guard }) => guard === this.guard) &&
        declaresInterceptor(handler as object, controller.constructor);
      this.isMixed = this.answer && hasOtherEntries(handler as object);
    }
    return this.isMixed ? checked.getStore() === handler : this.answer;
  }

  /** Whether a call that is not covered came past the interceptor of its route: for a message, for example. */
  isBypassed(): boolean {
    return this.isMixed;
  }
}

function hasOtherEntries(handler: object): boolean {
  return Reflect.getMetadataKeys(handler).some((key) => OTHER_ENTRIES.test(String(key)));
}

function guardsOf(handler: object): readonly RoutedGuard[] {
  return Reflect.getMetadata(GUARDS, handler) ?? [];
}

function declaresInterceptor(handler: object, controller: Function): boolean {
  return [handler, controller].some((holder) => {
    const declared: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, holder) ?? [];
    return declared.some(
      (item) =>
        item === BloomInterceptor ||
        item instanceof BloomInterceptor ||
        (typeof item === 'function' && item.prototype instanceof BloomInterceptor),
    );
  });
}

/** The guards of a class whose option `param` nobody reads, since the interceptor does not check their methods. */
export function guardsWithUnreadParam(owner: Function): GuardDeclaration[] {
  const methods = new Map<PropertyKey, unknown>();
  for (let at = owner.prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      if (!methods.has(key)) methods.set(key, Object.getOwnPropertyDescriptor(at, key)!.value);
    }
  }
  return [...methods.values()]
    .filter((method) => typeof method === 'function')
    .filter((method) => !(isRouteHandler(method) && declaresInterceptor(method, owner)))
    .flatMap((method) => guardsOf(method).map(({ guard }) => guard))
    .filter(({ options }) => options.param !== undefined);
}

/** Requests, on their way to the route. */
function routeEntry(param: BloomGuardedOptions['param'], option: 'id' | 'param'): EntryPoint {
  const readBy = `its option ${option}`;
  return { readId: requestReader(param), readBy, context: () => 'http', isNullable: () => false };
}

function requestReader(param: BloomGuardedOptions['param']): IdReader {
  if (typeof param === 'function') return (_, [request]) => syncAnswer('the option param', param(request));
  const name = param ?? 'id';
  return (_, args) => {
    const { params } = args[0] as HttpRequest;
    if (name in params) return params[name];
    // A route that has no such parameter is a mistake of its author: it must not make all rows absent.
    throw new ReaderMistake(noRouteParameter(name));
  };
}
