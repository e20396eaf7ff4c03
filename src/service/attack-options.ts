import type { ExecutionContext } from '@nestjs/common';
import { isAbove, isFunction, isInteger, isNumber, type OptionTable } from '../common/index.js';
import { ATTACK_DEFAULTS, type AttackSettings } from './attack-rule.js';

/** When lookups of absent ids are an attack, and whose they are. Of each process, and of each filter. */
export interface BloomAttackOptions {
  /** Fewer absents a second than this are never an attack. Default 50. */
  readonly minPerSecond?: number;
  /** An attack has at least so many times the usual absents of the last minutes. Default 4. */
  readonly factor?: number;
  /** How long the rate of absents must be that high on average, in milliseconds, 500 to 60,000. Default 1,500. */
  readonly startAfterMs?: number;
  /** How long the rate must be below half of that before the attack has ended, in milliseconds. Default 30,000. */
  readonly endAfterMs?: number;
  /**
   * Names the client of a request, such as `clientAddress`: then the absents of each client are counted, `worstClients()` and the events name the worst, and
   * `BloomThrottlerGuard` can refuse them. Called for each absent lookup within a request that `BloomInterceptor` has seen; bind it globally. Undefined: the
   * lookup is counted for nobody. Default: nothing is counted.
   */
  readonly client?: (context: ExecutionContext) => string | undefined;
  /** So many clients are counted at one time, for each filter and each minute: those with the most absents. Default 10,000. */
  readonly maxClients?: number;
}

/** So many clients are counted of a filter and a minute. */
export const MAX_CLIENTS = 10_000;

export const ATTACK_OPTIONS = {
  minPerSecond: ['a number above 0', isAbove(0)],
  factor: ['a number above 1', isAbove(1)],
  startAfterMs: ['a number from 500 to 60,000', isNumber(500, 60_000)],
  endAfterMs: ['a number above 0', isAbove(0)],
  client: ['a function of the ExecutionContext of a request', isFunction],
  maxClients: ['a whole number from 1 to 1,000,000', isInteger(1, 1_000_000)],
} satisfies OptionTable<BloomAttackOptions>;

export function attackSettings(options: BloomAttackOptions): AttackSettings {
  const given = Object.entries(options).filter(
    ([name, value]) => name in ATTACK_DEFAULTS && value !== undefined,
  );
  return { ...ATTACK_DEFAULTS, ...Object.fromEntries(given) };
}
