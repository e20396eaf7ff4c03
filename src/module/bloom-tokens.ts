import { Inject } from '@nestjs/common';

export const BLOOM_OPTIONS = Symbol('nestjs-bloom options');
export const BLOOM_STORE = Symbol('nestjs-bloom store');
export const BLOOM_SERVICE = Symbol('nestjs-bloom service');

/** Names that this process has asked tokens for: those that tests have to provide, whatever module registers the filters. */
const named = new Set<string>();

export function namedFilters(): ReadonlySet<string> {
  return named;
}

/** Names that a module of this process has registered. */
const registered = new Set<string>();

export function noteRegistered(name: string): void {
  registered.add(name);
}

/** Those that were asked for, and that nobody has registered so far. */
export function missingFilters(): string[] {
  return [...named].filter((name) => !registered.has(name));
}

export function tokenOfFilter(name: string): string {
  return `BloomFilter:${name}`;
}

/** The injection token of a filter, for `Test.createTestingModule().overrideProvider(…)` and for `inject` of factories. */
export function getBloomFilterToken(name: string): string {
  named.add(name);
  return tokenOfFilter(name);
}

/**
 * Injects a filter.
 *
 * @example constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}
 */
export function InjectBloomFilter(name: string): ParameterDecorator & PropertyDecorator {
  return Inject(getBloomFilterToken(name));
}
