import { AsyncLocalStorage } from 'node:async_hooks';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { isRouteHandler } from './call-context.js';
import { type EntryPoint, type GuardDeclaration, requestEntry } from './guarded-call.js';
import type { BloomGuardedOptions } from './guard-options.js';
import { isSkipped } from './skip-bloom.decorator.js';

const GUARDS = Symbol('nestjs-bloom:guards');
/** The mark of `BloomInterceptor` and of classes that extend it. */
export const CHECKS: unique symbol = Symbol('nestjs-bloom:checks');
/** Metadata of Nest's packages on methods that they call for messages, events or jobs, not for requests. */
const OTHER_ENTRIES = /^(microservices:|websockets:|graphql:|bull|SCHEDUL|EVENT_LISTENER)/i;
/** The handler whose request was checked; set only where a handler is also called for other things. */
export const checked = new AsyncLocalStorage<Function>();

/** A guard of a handler, and how it reads a request. */
export interface RoutedGuard {
  readonly guard: GuardDeclaration;
  readonly entry: EntryPoint;
  /** Undefined where the handler itself declares no guard. */
  readonly coverage: InterceptorCoverage | undefined;
}

/** Records on the handler that the interceptor can take over this guard. */
export function declareGuard(handler: object, guard: GuardDeclaration, coverage: InterceptorCoverage): void {
  const routed: RoutedGuard = { guard, entry: requestEntry(guard.options), coverage };
  Reflect.defineMetadata(GUARDS, [routed, ...guardsOf(handler)], handler);
}

/** Whether the interceptor checks the routed calls of a method, so that its wrapper must not. */
export class InterceptorCoverage {
  // What the last call showed. Metadata are looked up once: that takes longer than a check.
  private handler: unknown;
  private owner: unknown;
  private answer = false;
  /**
   * Whether a call that is not covered came past the interceptor of its route: for a message, for example.
   */
  isMixed = false;
  /** Whether an interceptor that neither the method nor its class declares checks its calls. */
  isTakenOver = false;

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
      const isLeft = isSkipped(handler, controller.constructor);
      this.answer =
        isLeft ||
        (isRouteHandler(handler) &&
          guardsOf(handler as object).some(({ guard }) => guard === this.guard) &&
          declaresInterceptor(handler as object, controller.constructor));
      this.isMixed = !isLeft && (this.isTakenOver || (this.answer && hasOtherEntries(handler as object)));
    }
    return this.isMixed ? checked.getStore() === handler : this.answer;
  }

  /** Called when an interceptor that the route does not declare runs its guards. */
  takeOver(): void {
    if (this.isTakenOver) return;
    this.isTakenOver = true;
    this.handler = undefined;
  }
}

export function hasOtherEntries(handler: object): boolean {
  return Reflect.getMetadataKeys(handler).some((key) => OTHER_ENTRIES.test(String(key)));
}

export function guardsOf(handler: object): readonly RoutedGuard[] {
  return Reflect.getMetadata(GUARDS, handler) ?? [];
}

/** @param interceptor the one that is meant; any, if it is left out. */
export function declaresInterceptor(handler: object, controller: Function, interceptor?: object): boolean {
  return declaredInterceptors(handler, controller).some(
    (item) =>
      !interceptor || (typeof item === 'function' ? interceptor instanceof item : item === interceptor),
  );
}

/** The classes and objects of `BloomInterceptor`, and of those that extend it, on a handler and its class. */
export function declaredInterceptors(handler: object, controller: Function): object[] {
  return [handler, controller]
    .flatMap((holder): object[] => Reflect.getMetadata(INTERCEPTORS_METADATA, holder) ?? [])
    .filter((item) => CHECKS in (typeof item === 'function' ? item : item.constructor));
}

/** The option of a guard that `BloomInterceptor` alone reads, if it has one. */
export function readByInterceptor({ param, early }: BloomGuardedOptions): 'param' | 'early' | undefined {
  if (param !== undefined) return 'param';
  return early ? 'early' : undefined;
}

/** The methods of a class, and those that it inherits. */
export function methodsOf(owner: Function): Function[] {
  const methods = new Map<PropertyKey, unknown>();
  for (let at = owner.prototype; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      if (!methods.has(key)) methods.set(key, Object.getOwnPropertyDescriptor(at, key)!.value);
    }
  }
  return [...methods.values()].filter((method) => typeof method === 'function');
}

/** A guard with an option that neither its wrapper nor the interceptor reads as it is meant. */
export interface UnreadOption {
  readonly guard: GuardDeclaration;
  readonly option: 'param' | 'early' | 'scope';
}

/**
 * Those of a class: the interceptor does not check the method, or does and has no arguments for the function.
 */
export function unreadOptions(owner: Function): UnreadOption[] {
  return methodsOf(owner).flatMap((method) => {
    const isByInterceptor = isRouteHandler(method) && declaresInterceptor(method, owner);
    return guardsOf(method).flatMap(({ guard }) => {
      const { scope, param } = guard.options;
      const isOfArguments = typeof scope === 'function' && param === undefined;
      const option = isByInterceptor ? isOfArguments && 'scope' : readByInterceptor(guard.options);
      return option ? { guard, option } : [];
    });
  });
}
