import {
  BloomConfigError,
  type BloomFilterState,
  checkOptions,
  type OptionNames,
} from '../../common/index.js';
import { wrongAllow, wrongKey, wrongMaxErrorRate, wrongTime } from './terminus.messages.js';

/**
 * Why a filter does not protect: its state, or `unavailable`, the store could not be asked in time or the filter belongs to another application.
 * `unknown` stands for all of them, since lookups are `unknown` then.
 */
export type BloomUnreadyState = Exclude<BloomFilterState, 'ready'> | 'unavailable' | 'unknown';

/** Of `BloomHealthIndicator.isHealthy`. */
export interface BloomHealthOptions {
  /** The name of the filter in the result. Default: the name of the filter. */
  readonly key?: string;
  /**
   * What does not make the filter unhealthy. Default `['unknown']`: nothing does, since an application without its filter still answers, only with more
   * queries. `[]`: the filter has to be ready.
   */
  readonly allow?: readonly BloomUnreadyState[];
  /** A ready filter that was built longer ago is down. Default: any age is healthy. */
  readonly maxAgeMs?: number;
  /** A ready filter that lets a larger share of absent ids pass, by its bits, is down. Default: any share is healthy. */
  readonly maxErrorRate?: number;
  /** How long to wait for the store; after it the filter is `unavailable`. Default 1,000. */
  readonly timeoutMs?: number;
}

const UNREADY: readonly BloomUnreadyState[] = ['unbuilt', 'lost', 'suspect', 'unavailable', 'unknown'];
const OPTIONS = {
  key: true,
  allow: true,
  maxAgeMs: true,
  maxErrorRate: true,
  timeoutMs: true,
} satisfies OptionNames<BloomHealthOptions>;

/** @throws {BloomConfigError} for options that there are not, or that cannot work. */
export function checkHealthOptions(options: BloomHealthOptions): void {
  checkOptions(options, { where: 'BloomHealthIndicator', known: OPTIONS });
  const { key, allow, maxAgeMs, maxErrorRate, timeoutMs } = options;
  if (key !== undefined && (typeof key !== 'string' || key === '')) throw new BloomConfigError(wrongKey(key));
  if (allow !== undefined && !(Array.isArray(allow) && allow.every((state) => UNREADY.includes(state))))
    throw new BloomConfigError(wrongAllow(allow, UNREADY));
  if (maxAgeMs !== undefined && !isPositive(maxAgeMs))
    throw new BloomConfigError(wrongTime('maxAgeMs', maxAgeMs));
  if (timeoutMs !== undefined && !isPositive(timeoutMs))
    throw new BloomConfigError(wrongTime('timeoutMs', timeoutMs));
  if (maxErrorRate !== undefined && !(isPositive(maxErrorRate) && maxErrorRate <= 1))
    throw new BloomConfigError(wrongMaxErrorRate(maxErrorRate));
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && value > 0;
}
