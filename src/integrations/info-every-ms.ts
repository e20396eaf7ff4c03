import { BloomConfigError } from '../common/index.js';
import { wrongInfoEveryMs } from './integrations.messages.js';

/** Least time between two calls of `info()` for one filter, unless an option says otherwise. */
const INFO_EVERY_MS = 60_000;
const LEAST_MS = 1000;

/** @throws {BloomConfigError} for a time that is no number, or too short. */
export function checkedInfoEveryMs(where: string, infoEveryMs: unknown = INFO_EVERY_MS): number {
  if (typeof infoEveryMs !== 'number' || !(infoEveryMs >= LEAST_MS))
    throw new BloomConfigError(wrongInfoEveryMs(where, infoEveryMs));
  return infoEveryMs;
}
