import { BloomConfigError } from '../common/index.js';
import { wrongInteger, wrongErrorRate } from './filter.messages.js';

/** What a filter is planned for. */
export interface FilterTarget {
  /** Ids the filter holds at its error rate. */
  readonly capacity: number;
  /** Share of absent ids answered "maybe". */
  readonly errorRate: number;
}

/** @throws {BloomConfigError} */
export function checkInteger(name: string, value: number, range: { min: number; max: number }): void {
  if (Number.isSafeInteger(value) && value >= range.min && value <= range.max) return;
  throw new BloomConfigError(wrongInteger(name, range.min, range.max, value));
}

/**
 * @param target with 0 < errorRate < 1
 * @throws {BloomConfigError}
 */
export function checkTarget({ capacity, errorRate }: FilterTarget, leastCapacity = 1): void {
  checkInteger('capacity', capacity, { min: leastCapacity, max: Number.MAX_SAFE_INTEGER });
  if (errorRate > 0 && errorRate < 1) return;
  throw new BloomConfigError(wrongErrorRate(errorRate));
}
