import { Logger } from '@nestjs/common';
import type { GuardDeclaration } from './bloom-guard.runner.js';
import { observed } from './call-outcome.js';
import { declareGuard, isInterceptorsTurn } from './bloom.interceptor.js';
import type { BloomGuardedOptions, BloomMethodDecorator } from './guard.options.js';
import {
  isRouteHandler,
  methodName,
  type MethodSite,
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
    wrapMethod({
      ...site,
      use: { decorator: 'BloomGuarded', filter, method: guard.method },
      around: (call) => callGuarded(site, guard, call),
    });
    declareGuard(descriptor.value!, guard);
  };
}

async function callGuarded(site: MethodSite, guard: GuardDeclaration, call: WrappedCall): Promise<unknown> {
  const { self, args, runner, proceed } = call;
  if (!self || !runner) {
    warnOnce(self?.constructor ?? site.target.constructor, guard);
    return proceed();
  }
  if (isInterceptorsTurn(self, site.key, guard)) return proceed();
  const { answer, settle } = await runner.decide({
    guard,
    self,
    args,
    id: () => readId(guard.options.id, self, args),
    isRoute: () => isRoute(site),
  });
  if (answer) return answer.value;
  const run = guard.options.coalesce
    ? () => runner.shared.run({ method: guard.method, self, args, proceed })
    : proceed;
  return settle ? observed(run, settle) : run();
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
