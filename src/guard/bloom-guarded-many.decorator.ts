import { BloomIdError } from '../common/index.js';
import { type CountedMethod, loadFound, loadGuarded } from '../service/index.js';
import { type AnyInstance, type BloomFilterName, namedFilter, registeredName } from './filter-name.js';
import type { NamedFilter } from './filter-uses.js';
import type { BloomGuardedManyDecorator } from './decorator-types.js';
import { checkManyOptions } from './guard-options-check.js';
import { noListOfIds } from './guard.messages.js';
import type { BloomGuardedManyOptions } from './guard-options.js';
import { methodName } from './method-site.js';
import type { OnlyOptions } from './method-verdict.js';
import { proceed, type WrappedCall, wrappedCall, wrapMethod } from './method-wrapper.js';
import { isSkipped } from './skip-bloom.decorator.js';
import { warnUnguarded } from './unguarded.js';

/**
 * Calls the method, whose first argument is a list of ids, with those that the filter may contain, in their order, or not at all where there are none.
 *
 * With `key`, which gives the id of a row, the answer has one element for each id that the caller gave, in that order, and null for an id without a row. The method may return rows
 * in any order, and leave out those that it does not find. Without `key`, the answer is what the method returned: the rows that it found, in its order. Each id counts
 * as a lookup of its own. A value that cannot be an id is an event `invalid-id`, and is left to the method.
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
    const method = methodName({ target, key, descriptor });
    const filter = namedFilter(name, 'BloomGuardedMany', method);
    checkManyOptions(options, `@BloomGuardedMany(${filter.text}) on ${method}`);
    const counted = { last: undefined };
    wrapMethod({
      target,
      key,
      descriptor,
      use: { decorator: 'BloomGuardedMany', filter, method, key },
      around: (original) => (self, args, injected) => {
        const call = wrappedCall(original, self, args, injected);
        if (isLeftAlone(self, key)) return proceed(call);
        return callMany({ filter, method, key: options.key, counted }, call);
      },
    });
  };
}

/** By `@SkipBloom()` on the method that overrides this one, or on the class. */
function isLeftAlone(self: object | undefined, key: string | symbol): boolean {
  return self !== undefined && isSkipped((self as Record<PropertyKey, unknown>)[key], self.constructor);
}

interface ManyDeclaration extends CountedMethod {
  readonly filter: NamedFilter;
  readonly key: BloomGuardedManyOptions['key'];
}

async function callMany(
  { filter: named, method, key, counted }: ManyDeclaration,
  call: WrappedCall,
): Promise<unknown> {
  const { self, args, runner } = call;
  const label = named.name ?? named.text;
  if (!runner) warnUnguarded((self ?? {}).constructor, { method, filter: label }, call.hasStandIn);
  const emit = runner?.service.emit ?? (() => {});
  const known = runner && self && registeredName(named, { self, method, service: runner.service });
  const name = known ?? label;
  const filter = known === undefined ? undefined : runner?.service.find(known);
  const [ids, ...others] = args;
  if (!Array.isArray(ids)) {
    emit({ type: 'invalid-id', filter: name, error: new BloomIdError(noListOfIds(typeof ids)), method });
    return proceed(call);
  }
  const batch = { filter, name, emit, method, counted };
  const load = (passing: unknown[]) => proceed({ ...call, args: [passing, ...others] });
  if (!key) return loadFound(batch, ids, load);
  return loadGuarded(batch, ids, {
    load: load as () => Promise<unknown[]>,
    key: (row) => key.call(self, row),
  });
}
