import { Logger } from '@nestjs/common';
import { declareGuard, InterceptorCoverage } from './bloom.interceptor.js';
import { checkGuardedOptions } from './guard-options.check.js';
import type { GuardDeclaration, EntryPoint } from './guarded-call.js';
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
 * A value that can be no row's id is reported as an `invalid-id` event and answered as `onInvalid` says: on a route as an absent id, by
 * default. An option `id` that throws is reported in the same way and leaves the call to `onUnknown`, which passes by default,
 * unless it throws a `BloomIdError` or an `HttpException` of 400 to 499: then the value is invalid. An application without the filter (its module not loaded yet) passes with a
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
    checkGuardedOptions(options, `@BloomGuarded('${filter}') on ${guard.method}`);
    const interceptorsTurn = new InterceptorCoverage(key, guard);
    const method = { site, guard, door: directDoor(site, interceptorsTurn), interceptorsTurn };
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
  readonly door: EntryPoint;
  readonly interceptorsTurn: InterceptorCoverage;
}

async function callGuarded(method: GuardedMethod, call: WrappedCall): Promise<unknown> {
  const { site, guard, door } = method;
  const { self, args, runner } = call;
  if (!self || !runner) {
    warnOnce(self?.constructor ?? site.target.constructor, guard, call.hasStandIn);
    return proceed(call);
  }
  if (method.interceptorsTurn.isAt(self)) return proceed(call);
  const guardedCall = { guard, door, self, args };
  const decided = runner.decide(guardedCall);
  // A decision that is there is not waited for: each wait takes as long as a check.
  const { answer, watched } = decided instanceof Promise ? await decided : decided;
  if (answer) return answer.value;
  const shared = guard.options.coalesce && runner.shareCall(guardedCall, async () => proceed(call));
  let result: unknown;
  try {
    result = await (shared ? shared.result : proceed(call));
  } catch (error) {
    if (watched) runner.settleError(watched, error, shared ? shared.isJoined : false);
    throw error;
  }
  if (watched) runner.settleResult(watched, result, shared ? shared.isJoined : false);
  return result;
}

/** Calls of the method itself, by Nest's router or by anybody. */
function directDoor(site: MethodSite, turn: InterceptorCoverage): EntryPoint {
  return {
    id: ({ guard, self, args }) => readId(guard.options.id, self, args),
    isRoute: () => isRoute(site) && !turn.isPassed(),
  };
}

/** Route decorators may stand above this one, and above wrappers of others: asked at the call, of the outermost function. */
function isRoute({ target, key }: MethodSite): boolean {
  return isRouteHandler(Reflect.get(target, key));
}

function warnOnce(owner: Function, guard: GuardDeclaration, hasStandIn: boolean): void {
  if (Reflect.hasOwnMetadata(WARNED, owner)) return;
  Reflect.defineMetadata(WARNED, true, owner);
  new Logger('BloomGuarded').warn(
    hasStandIn
      ? `${guard.method} runs unguarded: something else was injected into ${owner.name} in place of BloomGuardRunner. In a test that ` +
          'mocks what is missing this is as it should be; else import BloomModule.forRoot() in the root module.'
      : `${guard.method} runs unguarded: this ${owner.name} was not constructed by Nest. Provide the class itself instead of a ` +
          `factory or a value, or ask the filter '${guard.filter}' in the method (@InjectBloomFilter, mightContain).`,
  );
}
