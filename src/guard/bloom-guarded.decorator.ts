import { BloomConfigError } from '../common/index.js';
import { BloomGuardRunner, RUNNER_MARK } from './bloom-guard-runner.js';
import { contextReader, isNullableField, methodName, type MethodSite } from './call-context.js';
import {
  type AnyInstance,
  type BloomFilterName,
  type FilterUse,
  namedFilter,
  registeredName,
} from './filter-name.js';
import { paramWithoutName } from './guard.messages.js';
import { type BloomGuardedOptions, checkGuardedOptions } from './guard-options.js';
import {
  beginLoad,
  declaredGuard,
  type EntryPoint,
  type GuardDecision,
  type GuardDeclaration,
  guardedCall,
  type GuardedCall,
  idReader,
} from './guarded-call.js';
import { declareGuard, InterceptorCoverage, readByInterceptor } from './interceptor-coverage.js';
import type { GuardedVerdict, ListVerdict, OnlyOptions, OtherSelf } from './method-verdict.js';
import {
  proceed,
  RUNNER,
  warnUnguarded,
  type WrappedCall,
  wrappedCall,
  type Wrapper,
  wrapMethod,
} from './method-wrapper.js';

type ListMethod = (...args: never[]) => Promise<readonly unknown[]>;

/**
 * Puts a guard on a method that returns a promise, and that the id can be read of. On any other method it is
 * a compile error, whose text says what to write.
 */
export interface BloomGuardedDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method extends ListMethod>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedVerdict<Target, Method, Options> | ListVerdict<Method, Options>;
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedVerdict<Target, Method, Options>;
  /** For `applyDecorators` of Nest, which takes any decorator and is not checked by the compiler. */
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}

/**
 * Lets the method run only for ids that the filter may contain. For an absent id a route throws
 * `NotFoundException` and any other method resolves `null`, without the method being called; `onAbsent` says
 * what other entry points of Nest answer, and what to answer instead. `onInvalid` answers a value that cannot
 * be an id, `onUnknown` what the filter does not know; both cases are events.
 *
 * An application without the filter passes with a `filter-missing` event. An object that Nest did not
 * construct is not guarded; its class is warned of once. In a class that others extend, a function of the
 * instance names the filter: `(self: BaseRepository) => self.filterName`. `BloomInterceptor` leaves such a
 * method alone.
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
export function BloomGuarded<
  const Options extends Omit<BloomGuardedOptions, 'param' | 'early'>,
  Self = AnyInstance,
>(
  filter: (self: Self) => string,
  options: Options & OnlyOptions<Options, Omit<BloomGuardedOptions, 'param' | 'early'>>,
): BloomGuardedDecorator<Options, Self>;
export function BloomGuarded(filter: BloomFilterName, options: BloomGuardedOptions = {}): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const site = { target, key, descriptor };
    const method = methodName(site);
    const named = namedFilter(filter, 'BloomGuarded', method);
    const where = `@BloomGuarded(${named.text}) on ${method}`;
    checkGuardedOptions(options, where);
    const isScoped = options.scope !== undefined;
    const use = { decorator: 'BloomGuarded', filter: named, method, key, isScoped } as const;
    if (named.name === undefined) {
      const unread = readByInterceptor(options);
      if (unread) throw new BloomConfigError(paramWithoutName(where, unread));
      return wrapMethod(site, use, (original) => guardingByName(site, original, { use, options }));
    }
    const guard = declaredGuard({ filter: named.name, method, options });
    const coverage = new InterceptorCoverage(key, guard);
    wrapMethod(site, use, (original) => guarding(site, original, { guard, coverage }));
    declareGuard(descriptor.value, guard, coverage);
  };
}

/** The same where each instance names its filter: a guard for each name, made with its first call. */
function guardingByName(
  site: MethodSite,
  original: Function,
  { use, options }: { readonly use: FilterUse; readonly options: BloomGuardedOptions },
): Wrapper {
  const { filter, method } = use;
  const guards = new Map<string, Wrapper>();
  return function (...args) {
    const call = wrappedCall(original, this, args);
    if (!this || !call.runner) return unguarded(site, call, { method, filter: filter.text });
    const name = registeredName(use, this, call.runner.service);
    if (name === undefined) return untouched(original, this, args);
    let wrapper = guards.get(name);
    if (!wrapper) {
      const guard = declaredGuard({ filter: name, method, options });
      wrapper = guarding(site, original, { guard, coverage: new InterceptorCoverage(site.key, guard) });
      guards.set(name, wrapper);
    }
    return wrapper.apply(this, args);
  };
}

/** The guard of a function that is no method of an object of Nest. */
export interface FunctionGuard {
  /** The filter's name. */
  readonly filter: string;
  /** For people, metrics and events: `Product.findUnique`. */
  readonly method: string;
  /** As of `@BloomGuarded`. */
  readonly options: BloomGuardedOptions;
}

/**
 * Guards a function of a library as `@BloomGuarded` guards a method. Its first argument is the id, unless the
 * option `id` says otherwise. What stands in for a runner in a test guards nothing.
 */
export function guardFunction<Args extends unknown[], Result>(
  runner: BloomGuardRunner,
  declared: FunctionGuard,
  run: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result | null> {
  if (!BloomGuardRunner.isRunner(runner)) return run;
  const site = { target: {}, key: declared.method, descriptor: {} };
  const guard = declaredGuard(declared);
  const wrapper = guarding(site, run, { guard, coverage: new InterceptorCoverage(site.key, guard) });
  const host = { [RUNNER]: runner };
  return (...args) => wrapper.apply(host, args) as Promise<Result | null>;
}

/** An absent id is answered without an async function, which would take as long as the check. */
function guarding(
  site: MethodSite,
  original: Function,
  { guard, coverage }: { readonly guard: GuardDeclaration; readonly coverage: InterceptorCoverage },
): Wrapper {
  // Calls of the method itself, by Nest or by anybody.
  const entry: EntryPoint = {
    readId: idReader(guard.options),
    readBy: 'its option id',
    context: contextReader(site, () => coverage.isMixed),
    isNullable: (args) => isNullableField(site, args),
    absent: undefined,
  };
  return function (...args) {
    const runner = this?.[RUNNER];
    if (!this || runner?.mark !== RUNNER_MARK)
      return unguarded(site, wrappedCall(original, this, args), guard);
    if (coverage.covers(this)) return untouched(original, this, args);
    const call = guardedCall(guard, entry, this, args);
    let decided: GuardDecision | Promise<GuardDecision>;
    try {
      decided = runner.decide(call);
    } catch (error) {
      return Promise.reject(error);
    }
    if (decided === undefined) return letThrough(runner, original, call);
    if (decided instanceof Promise) return decideLater(runner, original, call, decided);
    return decided.error === undefined ? Promise.resolve(decided.value) : rejected(decided.error);
  };
}

async function decideLater(
  runner: BloomGuardRunner,
  original: Function,
  call: GuardedCall,
  decided: Promise<GuardDecision>,
): Promise<unknown> {
  const answer = await decided;
  if (!answer) return letThrough(runner, original, call);
  if (answer.error !== undefined) throw answer.error;
  return answer.value;
}

const RESOLVED = Promise.resolve();

/**
 * Rejects one microtask later, when the caller waits for the promise: Node keeps a list of promises that are
 * rejected before somebody waits for them.
 */
function rejected(error: Error): Promise<never> {
  return new Promise((_, reject) => void RESOLVED.then(() => reject(error)));
}

/** Runs the method, or joins a running call, and learns from what comes of it. */
async function letThrough(runner: BloomGuardRunner, original: Function, call: GuardedCall): Promise<unknown> {
  const { guard, self, args } = call;
  const isShared = guard.options.coalesce !== undefined && guard.options.coalesce !== false;
  if (!isShared) beginLoad(call);
  let result: unknown;
  try {
    if (isShared) result = await runner.shared.run(call, () => runUntouched(original, call));
    else result = await (call.unjudged ? runUntouched(original, call) : original.apply(self, args));
  } catch (error) {
    runner.lessons.settleError(call, error);
    throw error;
  }
  runner.lessons.settleResult(call, result);
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

/** The method itself, within the budget where the filter could not judge. */
function runUntouched(original: Function, { self, args, filter, unjudged }: GuardedCall): Promise<unknown> {
  if (!unjudged) return untouched(original, self, args);
  return filter!.guarding.budget!.run(unjudged, () => untouched(original, self, args));
}

/** A call that is not checked here. What the method throws at once is a rejection all the same. */
async function untouched(original: Function, self: unknown, args: readonly unknown[]): Promise<unknown> {
  return original.apply(self, args);
}
