import type { ExecutionContext } from '@nestjs/common';
import { BloomConfigError, checkOptions, type OptionNames } from '../common/index.js';
import { ATTACK_DEFAULTS, type AttackSettings } from './attack-rule.js';
import { wrongAttackOption } from './service.messages.js';

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

const ATTACK = {
  minPerSecond: true,
  factor: true,
  startAfterMs: true,
  endAfterMs: true,
  client: true,
  maxClients: true,
} satisfies OptionNames<BloomAttackOptions>;

/** So many clients are counted of a filter and a minute. */
export const MAX_CLIENTS = 10_000;

const isOver = (least: number) => (value: unknown) =>
  typeof value === 'number' && value > least && value < Infinity;

/** @throws {BloomConfigError} for an option that there is not, or that cannot work. */
export function checkAttackOptions(options: BloomAttackOptions | false | undefined, where: string): void {
  if (options === undefined || options === false) return;
  checkOptions(options, { where, path: 'attack.', known: ATTACK });
  const expectations: readonly [keyof BloomAttackOptions, string, (value: unknown) => boolean][] = [
    ['minPerSecond', 'a number above 0', isOver(0)],
    ['factor', 'a number above 1', isOver(1)],
    [
      'startAfterMs',
      'a number from 500 to 60,000',
      (value) => typeof value === 'number' && value >= 500 && value <= 60_000,
    ],
    ['endAfterMs', 'a number above 0', isOver(0)],
    ['client', 'a function of the ExecutionContext of a request', (value) => typeof value === 'function'],
    [
      'maxClients',
      'a whole number from 1 to 1,000,000',
      (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000,
    ],
  ];
  for (const [option, expected, holds] of expectations) {
    const value: unknown = options[option];
    if (value !== undefined && !holds(value))
      throw new BloomConfigError(wrongAttackOption(where, option, expected, value));
  }
}

export function attackSettings(options: BloomAttackOptions): AttackSettings {
  const given = Object.entries(options).filter(
    ([name, value]) => name in ATTACK_DEFAULTS && value !== undefined,
  );
  return { ...ATTACK_DEFAULTS, ...Object.fromEntries(given) };
}
