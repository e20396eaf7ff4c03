import { BloomIdError } from '../common/index.js';
import { scopedBy } from '../filter/index.js';
import { loadFound, loadGuarded } from '../service/index.js';
import { methodName } from './call-context.js';
import {
  type AnyInstance,
  type BloomFilterName,
  type FilterUse,
  namedFilter,
  registeredName,
} from './filter-name.js';
import { noListOfIds } from './guard.messages.js';
import { type BloomGuardedManyOptions, checkManyOptions } from './guard-options.js';
import { syncAnswer } from './guarded-call.js';
import type { GuardedManyVerdict, OnlyOptions, OtherSelf } from './method-verdict.js';
import { proceed, warnUnguarded, type WrappedCall, wrappedCall, wrapMethod } from './method-wrapper.js';
import { isSkipped } from './skip-bloom.decorator.js';

/** As `BloomGuardedDecorator`, for methods whose first argument is a list of ids. */
export interface BloomGuardedManyDecorator<Options = {}, Self = AnyInstance> {
  <Target extends Self & object, Method>(
    target: Target,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): GuardedManyVerdict<Method, Options>;
  <Method>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): OtherSelf<Self>;
}

/**
 * Calls the method, whose first argument is a list of ids, with those that the filter may contain, in their
 * order, or not at all where there are none.
 *
 * With `key`, which gives the id of a row, the answer has one element for each id that the caller gave, in
 * that order, and null for an id without a row. The method may return rows in any order, and leave out those
 * that it does not find. Without `key`, the answer is what the method returned: the rows that it found, in
 * its order. Each id counts as a lookup of its own. A value that cannot be an id is an event `invalid-id`,
 * and is left to the method.
 *
 * @example
 * ```ts
 * @BloomGuardedMany('products', { key: (row: Product) => row.sku })
 * async findMany(skus: string[]): Promise<(Product | null)[]> { … }
 * ```
 */
export function BloomGuardedMany<Self = AnyInstance>(
  filter: BloomFilterName<Self>,
): BloomGuardedManyDecorator<{}, Self>;
export function BloomGuardedMany<const Options extends BloomGuardedManyOptions, Self = AnyInstance>(
  filter: BloomFilterName<Self>,
  options: Options & OnlyOptions<Options, BloomGuardedManyOptions>,
): BloomGuardedManyDecorator<Options, Self>;
export function BloomGuardedMany(
  name: BloomFilterName,
  options: BloomGuardedManyOptions = {},
): MethodDecorator {
  return (target, key, descriptor: PropertyDescriptor) => {
    const site = { target, key, descriptor };
    const method = methodName(site);
    const filter = namedFilter(name, 'BloomGuardedMany', method);
    checkManyOptions(options, `@BloomGuardedMany(${filter.text}) on ${method}`);
    const isScoped = options.scope !== undefined;
    const use = { decorator: 'BloomGuardedMany', filter, method, key, isScoped } as const;
    const callMany = guardingMany(use, options);
    wrapMethod(
      site,
      use,
      (original) =>
        async function (...args) {
          const call = wrappedCall(original, this, args);
          // By `@SkipBloom()` on the method that overrides this one, or on the class.
          const isLeftAlone =
            this && isSkipped((this as Record<PropertyKey, unknown>)[key], this.constructor);
          return isLeftAlone ? proceed(call) : callMany(call);
        },
    );
  };
}

function guardingMany(use: FilterUse, { key, scope }: BloomGuardedManyOptions) {
  const { filter: named, method } = use;
  const counted = { last: undefined };
  const label = named.name ?? named.text;
  return (call: WrappedCall): Promise<unknown> => {
    const { self, args, runner } = call;
    if (!runner) warnUnguarded((self ?? {}).constructor, { method, filter: label }, call.hasStandIn);
    const emit = runner?.service.emit ?? (() => {});
    const known = runner && self && registeredName(use, self, runner.service);
    const name = known ?? label;
    let filter = known === undefined ? undefined : runner?.service.find(known);
    const [ids, ...others] = args;
    if (!Array.isArray(ids)) {
      emit({ type: 'invalid-id', filter: name, error: new BloomIdError(noListOfIds(typeof ids)), method });
      return proceed(call);
    }
    let inScope: ((id: unknown) => unknown) | undefined;
    try {
      if (scope && filter) inScope = scopedBy(syncAnswer('the option scope', scope.apply(self, [...args])));
    } catch (error) {
      emit({ type: 'invalid-id', filter: name, error, method });
      filter = undefined;
    }
    const batch = { filter, name, emit, method, counted, inScope };
    const load = (passing: unknown[]) => proceed({ ...call, args: [passing, ...others] });
    if (!key) return loadFound(batch, ids, load);
    const keyOf = (row: unknown) => key.call(self, row);
    return loadGuarded(batch, ids, { load: load as () => Promise<unknown[]>, key: keyOf });
  };
}
