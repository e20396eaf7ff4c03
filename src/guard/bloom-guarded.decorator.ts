import { BloomConfigError } from '../common/index.js';
import { declareGuard, InterceptorCoverage } from './bloom.interceptor.js';
import { contextReader } from './call-context.js';
import { type AnyInstance, type BloomFilterName, namedFilter, registeredName } from './filter-name.js';
import type { FilterUse } from './filter-uses.js';
import { isNullableField } from './graphql-field.js';
import { checkGuardedOptions } from './guard-options-check.js';
import type { GuardDeclaration, EntryPoint } from './guarded-call.js';
import type { BloomGuardedDecorator } from './decorator-types.js';
import { paramWithoutName } from './guard.messages.js';
import type { BloomGuardedOptions } from './guard-options.js';
import { methodName, type MethodSite } from './method-site.js';
import { proceed, type WrappedCall, wrapMethod } from './method-wrapper.js';
import { idReader } from './id-reader.js';
import type { OnlyOptions } from './method-verdict.js';
import { warnUnguarded } from './unguarded.js';

/**
 * Lets the method run only for ids that the filter may contain, on controllers as on providers. For an id that is certainly
 * absent a route throws `NotFoundException` and any other method resolves `null`, without the method being called; `onAbsent` says what
 * other entry points of Nest answer, and what to answer instead.
 *
 * A value that can be no row's id is reported as an `invalid-id` event and answered as `onInvalid` says: on a route as an absent id, by
 * default. An option `id` that throws is reported in the same way and leaves the call to `onUnknown`, which passes by default,
 * unless it throws a `BloomIdError` or an `HttpException` of 400 to 499, or `onThrow` is `'invalid'`: then the value is invalid. An application without the filter (its module not loaded yet) passes with a
 * `filter-missing` event. An object that Nest did not construct (made by a factory, or with `new`) is not guarded; its class is
 * warned of once.
 *
 * In a class that others extend, a function of the instance names the filter: `@BloomGuarded((self: BaseRepository) => self.filterName)`. `BloomInterceptor` leaves such
 * a method alone, which checks for itself.
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
export function BloomGuarded<Self = AnyInstance>(
  filter: BloomFilterName<Self>,
): BloomGuardedDecorator<{}, Self>;
export function BloomGuarded<const Options extends BloomGuardedOptions>(
  filter: string,
  options: Options & OnlyOptions<Options, BloomGuardedOptions>,
): BloomGuardedDecorator<Options>;
export function BloomGuarded<const Options extends Omit<BloomGuardedOptions, 'param'>, Self = AnyInstance>(
  filter: (self: Self) => string,
  options: Options & OnlyOptions<Options, Omit<BloomGuardedOptions, 'param'>>,
): BloomGuardedDecorator<Options, Self>;
export function BloomGuarded(filter: BloomFilterName, options: BloomGuardedOptions = {}): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const site = { target, key, descriptor };
    const method = methodName(site);
    const named = namedFilter(filter, 'BloomGuarded', method);
    const where = `@BloomGuarded(${named.text}) on ${method}`;
    checkGuardedOptions(options, where);
    const use = { decorator: 'BloomGuarded', filter: named, method, key } as const;
    if (named.name === undefined) {
      if (options.param !== undefined) throw new BloomConfigError(paramWithoutName(where));
      wrapMethod({ ...site, use, around: guardingByName(site, use, options) });
      return;
    }
    const guard: GuardDeclaration = { filter: named.name, method, options, counted: { last: undefined } };
    const coverage = new InterceptorCoverage(key, guard);
    wrapMethod({ ...site, use, around: guarding(site, guard, coverage) });
    declareGuard(descriptor.value, guard, coverage);
  };
}

/** The same where each instance names its filter: a guard for each name, made with its first call. */
function guardingByName(
  site: MethodSite,
  { filter, method }: FilterUse,
  options: BloomGuardedOptions,
): (call: WrappedCall) => Promise<unknown> {
  const guards = new Map<string, (call: WrappedCall) => Promise<unknown>>();
  return async (call) => {
    const { self, runner } = call;
    if (!self || !runner) {
      warnUnguarded(
        self?.constructor ?? site.target.constructor,
        { method, filter: filter.text },
        call.hasStandIn,
      );
      return proceed(call);
    }
    const name = registeredName(filter, { self, method, service: runner.service });
    if (name === undefined) return proceed(call);
    let guard = guards.get(name);
    if (!guard) {
      const declared = { filter: name, method, options, counted: { last: undefined } };
      guard = guarding(site, declared, new InterceptorCoverage(site.key, declared));
      guards.set(name, guard);
    }
    return guard(call);
  };
}

/** The function that runs in place of the method. */
function guarding(
  site: MethodSite,
  guard: GuardDeclaration,
  coverage: InterceptorCoverage,
): (call: WrappedCall) => Promise<unknown> {
  const entry = directEntry(site, guard, coverage);
  const { coalesce } = guard.options;
  return async (call) => {
    const { self, args, runner } = call;
    if (!self || !runner) {
      warnUnguarded(self?.constructor ?? site.target.constructor, guard, call.hasStandIn);
      return proceed(call);
    }
    if (coverage.covers(self)) return proceed(call);
    const guardedCall = { guard, entry, self, args };
    const decided = runner.decide(guardedCall);
    // A decision that is there is not waited for: each wait takes as long as a check.
    const decision = decided instanceof Promise ? await decided : decided;
    const { answer, observed } = decision;
    if (answer) return answer.value;
    const shared = coalesce && runner.shareCall(guardedCall, decision, async () => proceed(call));
    let result: unknown;
    try {
      result = await (shared ? shared.result : proceed(call));
    } catch (error) {
      if (observed) runner.settleError(observed, error, shared ? shared.isJoined : false);
      throw error;
    }
    if (observed) runner.settleResult(observed, result, shared ? shared.isJoined : false);
    return result;
  };
}

/** Calls of the method itself, by Nest or by anybody. */
function directEntry(
  site: MethodSite,
  { options }: GuardDeclaration,
  coverage: InterceptorCoverage,
): EntryPoint {
  const contextOfMethod = contextReader(site);
  return {
    readId: idReader(options.id),
    readBy: 'its option id',
    context() {
      const context = contextOfMethod();
      return context === 'http' && coverage.isBypassed() ? 'method' : context;
    },
    isNullable: (args) => isNullableField(site, args),
    absent: undefined,
  };
}
