import { parseArgs } from 'node:util';
import type { Safety } from '../support/broken-store.js';
import { FAMILIES } from './families/all-families.js';

export interface ExploreArguments {
  readonly schedules: number;
  readonly seed: number;
  readonly json: boolean;
  readonly help: boolean;
  /** Only filters of this kind. */
  readonly family: string | undefined;
  /** Take this safety out, and show the shortest schedule that fails. */
  readonly without: Safety | undefined;
}

const SAFETIES = FAMILIES.flatMap(({ safeties }) => safeties);
const NAMES = SAFETIES.map(({ name }) => name).join(', ');
const FAMILY_NAMES = FAMILIES.map(({ name }) => name).join(', ');

export const USAGE = `Usage: npm run explore -- [--schedules N] [--seed S] [--family NAME] [--json] [--break SAFETY]

  --schedules N   schedules to run with all safeties in, of all kinds of filters (default 500)
  --seed S        seed of the first schedule; each next one has the next seed (default 1)
  --family NAME   only filters of one kind: ${FAMILY_NAMES}
  --json          print the figures as one JSON object
  --break SAFETY  only take this safety out and show the shortest schedule that fails:
                  ${NAMES}
`;

export class UsageError extends Error {}

/** @throws {UsageError} */
export function parseExploreArguments(words: readonly string[]): ExploreArguments {
  const values = parsed(words);
  const schedules = Number(values.schedules ?? 500);
  if (!(Number.isSafeInteger(schedules) && schedules >= 1)) {
    throw new UsageError(`Expected --schedules to be a positive integer, got '${values.schedules}'.`);
  }
  const seed = Number(values.seed ?? 1);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)) {
    throw new UsageError(`Expected --seed to be an integer from 0 to below 2^31, got '${values.seed}'.`);
  }
  const without = SAFETIES.find(({ name }) => name === values.break);
  if (values.break !== undefined && !without) {
    throw new UsageError(`Expected --break to be one of ${NAMES}, got '${values.break}'.`);
  }
  const { family } = values;
  if (family !== undefined && !FAMILIES.some(({ name }) => name === family)) {
    throw new UsageError(`Expected --family to be one of ${FAMILY_NAMES}, got '${family}'.`);
  }
  return { schedules, seed, family, json: values.json ?? false, help: values.help ?? false, without };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        schedules: { type: 'string' },
        seed: { type: 'string' },
        family: { type: 'string' },
        json: { type: 'boolean' },
        break: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
