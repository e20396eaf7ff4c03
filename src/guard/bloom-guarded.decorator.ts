import { BloomConfigError } from '../common/index.js';
import { declareGuard, InterceptorCoverage } from './bloom.interceptor.js';
import { contextReader } from './call-context.js';
import { type AnyInstance, type BloomFilterName, namedFilter, registeredName } from './filter-name.js';
import type { FilterUse } from './filter-uses.js';
import { BloomGuardRunner } from './bloom-guard-runner.js';
import { answeredValue, type GuardDecision } from './guard-decision.js';
import { isNullableField } from './graphql-field.js';
import { checkGuardedOptions } from './guard-options-check.js';
import { declaredGuard, type EntryPoint, type GuardDeclaration, type GuardedCall } from './guarded-call.js';
import type { BloomGuardedDecorator } from './decorator-types.js';
import { paramWithoutName } from './guard.messages.js';
import type { BloomGuardedOptions } from './guard-options.js';
import { methodName, type MethodSite } from './method-site.js';
import { type Around, proceed, type WrappedCall, wrappedCall, wrapMethod } from './method-wrapper.js';
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
      wrapMethod({ ...site, use, around: (original) => guardingByName(site, original, { use, options }) });
      return;
    }
    const guard = declaredGuard({ filter: named.name, method, options });
    const coverage = new InterceptorCoverage(key, guard);
    wrapMethod({ ...site, use, around: (original) => guarding(site, original, { guard, coverage }) });
    declareGuard(descriptor.value, guard, coverage);
  };
}

/** The same where each instance names its filter: a guard for each name, made with its first call. */
function guardingByName(
  site: MethodSite,
  original: Function,
  { use, options }: { readonly use: FilterUse; readonly options: BloomGuardedOptions },
): Around {
  const { filter, method } = use;
  const guards = new Map<string, Around>();
  return (self, args, injected) => {
    if (!self || !BloomGuardRunner.isRunner(injected)) {
      return unguarded(site, wrappedCall(original, self, args, injected), { method, filter: filter.text });
    }
    const name = registeredName(filter, { self, method, service: injected.service });
    if (name === undefined) return untouched(original, self, args);
    let guard = guards.get(name);
    if (!guard) {
      const declared = declaredGuard({ filter: name, method, options });
      const coverage = new InterceptorCoverage(site.key, declared);
      guard = guarding(site, original, { guard: declared, coverage });
      guards.set(name, guard);
    }
    return guard(self, args, injected);
  };
}

/** The function that runs in place of the method. An absent id is answered without an async function, which would take as long as the check. */
function guarding(
  site: MethodSite,
  original: Function,
  { guard, coverage }: { readonly guard: GuardDeclaration; readonly coverage: InterceptorCoverage },
): Around {
  const entry = directEntry(site, guard, coverage);
  return (self, args, injected) => {
    if (!self || !BloomGuardRunner.isRunner(injected))
      return unguarded(site, wrappedCall(original, self, args, injected), guard);
    if (coverage.covers(self)) return untouched(original, self, args);
    const call = { guard, entry, self, args };
    let decided: GuardDecision | Promise<GuardDecision>;
    try {
      decided = injected.decide(call);
    } catch (error) {
      return Promise.reject(error);
    }
    if (decided instanceof Promise) return decideLater(injected, original, call, decided);
    const { answer } = decided;
    if (!answer) return letThrough(injected, original, call, decided);
    return answer.error === undefined ? Promise.resolve(answer.value) : rejected(answer.error);
  };
}

async function decideLater(
  runner: BloomGuardRunner,
  original: Function,
  call: GuardedCall,
  decided: Promise<GuardDecision>,
): Promise<unknown> {
  const decision = await decided;
  return decision.answer ? answeredValue(decision.answer) : letThrough(runner, original, call, decision);
}

const RESOLVED = Promise.resolve();

/** Rejects one microtask later, when the caller waits for the promise: Node keeps a list of promises that are rejected before somebody waits for them. */
function rejected(error: Error): Promise<never> {
  return new Promise((_, reject) => void RESOLVED.then(() => reject(error)));
}

/** Runs the method, or joins a running call, and learns from what comes of it. */
async function letThrough(
  runner: BloomGuardRunner,
  original: Function,
  call: GuardedCall,
  decision: GuardDecision,
): Promise<unknown> {
  const { observed } = decision;
  const shared = call.guard.options.coalesce
    ? runner.shareCall(call, decision, () => untouched(original, call.self, call.args))
    : undefined;
  let result: unknown;
  try {
    result = await (shared ? shared.result : original.apply(call.self, call.args));
  } catch (error) {
    if (observed) runner.lessons.settleError(call, observed, error, shared?.isJoined);
    throw error;
  }
  if (observed) runner.lessons.settleResult(call, observed, result, shared?.isJoined);
  return result;
}

/** An object that Nest did not construct. */
async function unguarded(
  site: MethodSite,
  call: WrappedCall,
  declared: { readonly filter: string; readonly method: string },
): Promise<unknown> {
  warnUnguarded(call.self?.constructor ?? site.target.constructor, declared, call.hasStandIn);
  return proceed(call);
}

/** A call that is checked elsewhere, or not at all. What the method throws at once is a rejection all the same. */
async function untouched(original: Function, self: unknown, args: readonly unknown[]): Promise<unknown> {
  return original.apply(self, args);
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
