import { testPlan } from './built-filter.js';
import { systemClock } from '../../src/common/index.js';
import type { OpenFilterOptions } from '../../src/store/index.js';
import { blocked } from '../../src/filter/index.js';

/** What a store is opened with where a test does not care. */
export function openOptions(options: Partial<OpenFilterOptions> = {}): OpenFilterOptions {
  return {
    name: 'products',
    emit: () => {},
    clock: systemClock,
    layout: blocked,
    plan: testPlan(),
    hasSource: true,
    drainMs: 10_000,
    ...options,
  };
}
