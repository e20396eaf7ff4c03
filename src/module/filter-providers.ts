import type { Provider } from '@nestjs/common';
import { BloomConfigError } from '../common/index.js';
import type { BloomFeature, BloomFeatureAsyncOptions } from './bloom-module-options.js';
import { recordRegistered, tokenOfFilter } from './bloom-tokens.js';
import { FilterRegistry } from './filter-registry.js';
import { noFilter, noRoot, notTheFilter, twoFilters } from './module.messages.js';

export function listOf<Feature extends { readonly name: string }>(
  features: Feature | readonly Feature[],
  method: string,
): readonly Feature[] {
  const list = Array.isArray(features) ? (features as readonly Feature[]) : [features as Feature];
  assertDistinct(list, method);
  return list;
}

/** When one module has two providers with the same token, Nest drops one without an error. */
export function assertDistinct(features: readonly { readonly name: string }[], method: string): void {
  const names = features.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) throw new BloomConfigError(noFilter(method, one));
    return (one as { readonly name: string }).name;
  });
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new BloomConfigError(twoFilters(twice));
}

/** The filter is registered also where something else is provided under its token. */
export function filterProviders(
  name: string,
  { useFactory, inject = [] }: Pick<BloomFeatureAsyncOptions, 'useFactory' | 'inject'>,
): Provider[] {
  recordRegistered(name);
  const registered = Symbol(`nestjs-bloom filter ${name}`);
  const registering = {
    provide: registered,
    inject: [{ token: FilterRegistry, optional: true }, ...inject],
    useFactory: async (registry: FilterRegistry | undefined, ...injected: unknown[]) => {
      if (!registry) throw new BloomConfigError(noRoot(name));
      // Something else was provided in the place of the registry: it is in the place of its filters, too.
      if (!(registry instanceof FilterRegistry)) return registry;
      return registry.register({ ...named(name, await useFactory(...injected)), name });
    },
  };
  return [registering, { provide: tokenOfFilter(name), useExisting: registered }];
}

/** @throws {BloomConfigError} for what a factory has made under another name. */
function named(name: string, options: Partial<BloomFeature>): Omit<BloomFeature, 'name'> {
  const { name: made = name } = options ?? {};
  if (typeof options !== 'object' || options === null || made !== name)
    throw new BloomConfigError(notTheFilter(name, options));
  return options as BloomFeature;
}
