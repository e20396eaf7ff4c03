import { Logger } from '@nestjs/common';
import type { GuardDeclaration, GuardDoor } from './bloom-guard.runner.js';
import { outcomeOfError, outcomeOfResult } from './call-outcome.js';
import { declareGuard, InterceptorsTurn } from './bloom.interceptor.js';
import type { BloomGuardedOptions, BloomMethodDecorator } from './guard.options.js';
import {
  isRouteHandler,
  methodName,
  type MethodSite,
  proceed,
  type WrappedCall,
  wrapMethod,
} from './method.wrapper.js';
import { readId } from './id.reader.js';

const WARNED = Symbol('nestjs-bloom:warned');

/**
 * Lets the method run only for ids that the filter may contain, on controllers as on providers. For an id that is certainly
 * absent a route throws `NotFoundException` and any other method resolves `null`, without the method being called.
 *
 * A value that is no id, and an `id` function that throws, are told as an `invalid-id` event and are `unknown` to the filter:
 * `onUnknown` applies, which passes by default. An application without the filter (its module not loaded yet) passes with a
 * `filter-missing` event. An object that Nest did not construct (made by a factory, or with `new`) is not guarded; its class is
 * warned of once.
 *
 * @example
 * ```ts
 * @Injectable()
 * class ProductRepository {
 *   @BloomGuarded('products')
 *   async findBySku(sku: string): Promise<Product | null> { … }
 * }
 * ```
 */
export function BloomGuarded(filter: string, options: BloomGuardedOptions = {}): BloomMethodDecorator {
  return (target, key, descriptor) => {
    const site = { target, key, descriptor };
    const guard: GuardDeclaration = { filter, method: methodName(site), options };
    const method = {
      site,
      guard,
      door: directDoor(site),
      interceptorsTurn: new InterceptorsTurn(key, guard),
    };
    wrapMethod({
      ...site,
      use: { decorator: 'BloomGuarded', filter, method: guard.method },
      around: (call) => callGuarded(method, call),
    });
    declareGuard(descriptor.value!, guard);
  };
}

interface GuardedMethod {
  readonly site: MethodSite;
  readonly guard: GuardDeclaration;
  readonly door: GuardDoor;
  readonly interceptorsTurn: InterceptorsTurn;
}

async function callGuarded(method: GuardedMethod, call: WrappedCall): Promise<unknown> {
  const { site, guard, door } = method;
  const { self, args, runner } = call;
  if (!self || !runner) {
    warnOnce(self?.constructor ?? site.target.constructor, guard);
    return proceed(call);
  }
  if (method.interceptorsTurn.isAt(self)) return proceed(call);
  const guardedCall = { guard, door, self, args };
  const decided = runner.decide(guardedCall);
  // A decision that is there is not waited for: each wait takes as long as a check.
  const { answer, watched } = decided instanceof Promise ? await decided : decided;
  if (answer) return answer.value;
  const shared = guard.options.coalesce ? runner.shareCall(guardedCall, () => proceed(call)) : undefined;
  let result: unknown;
  try {
    result = await (shared ? shared.result : proceed(call));
  } catch (error) {
    if (watched) runner.settle(watched, outcomeOfError(error), shared?.isJoined);
    throw error;
  }
  if (watched) runner.settle(watched, outcomeOfResult(result), shared?.isJoined);
  return result;
}

/** Calls of the method itself, by Nest's router or by anybody. */
function directDoor(site: MethodSite): GuardDoor {
  return {
    id: ({ guard, self, args }) => readId(guard.options.id, self, args),
    isRoute: () => isRoute(site),
  };
}

/** Route decorators may stand above this one, and above wrappers of others: asked at the call, of the outermost function. */
function isRoute({ target, key }: MethodSite): boolean {
  return isRouteHandler(Reflect.get(target, key));
}

function warnOnce(owner: Function, guard: GuardDeclaration): void {
  if (Reflect.hasOwnMetadata(WARNED, owner)) return;
  Reflect.defineMetadata(WARNED, true, owner);
  new Logger('BloomGuarded').warn(
    `${guard.method} runs unguarded: this ${owner.name} was not constructed by Nest. Provide the class itself instead of a ` +
      `factory or a value, or ask the filter '${guard.filter}' in the method (@InjectBloomFilter, mightContain).`,
  );
}
