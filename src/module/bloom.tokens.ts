import { Inject } from '@nestjs/common';

export const BLOOM_OPTIONS = Symbol('nestjs-bloom options');
export const BLOOM_STORE = Symbol('nestjs-bloom store');

/** The injection token of a filter, for `Test.createTestingModule().overrideProvider(…)` and for `inject` of factories. */
export function getBloomFilterToken(name: string): string {
  return `BloomFilter:${name}`;
}

/**
 * Injects a filter.
 *
 * @example constructor(@InjectBloomFilter('products') private readonly products: BloomFilter) {}
 */
export function InjectBloomFilter(name: string): ParameterDecorator & PropertyDecorator {
  return Inject(getBloomFilterToken(name));
}
