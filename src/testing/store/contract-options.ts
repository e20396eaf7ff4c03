import { systemClock } from '../../common/index.js';
import { blocked } from '../../filter/index.js';
import type { OpenFilterOptions } from '../../store/index.js';
import { testPlan } from './built-filter.js';

/** What a store is opened with by the contract, and where a test does not care. */
export function contractOptions(options: Partial<OpenFilterOptions> = {}): OpenFilterOptions {
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
