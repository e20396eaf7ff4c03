import { parseArgs } from 'node:util';
import { PROTOCOL_SAFETIES, type Safety } from '../support/broken-store.js';

export interface ExploreArguments {
  readonly schedules: number;
  readonly seed: number;
  readonly json: boolean;
  readonly help: boolean;
  /** Take this safety out, and show the shortest schedule that fails. */
  readonly without: Safety | undefined;
}

const NAMES = PROTOCOL_SAFETIES.map(({ name }) => name).join(', ');

export const USAGE = `Usage: npm run explore -- [--schedules N] [--seed S] [--json] [--break SAFETY]

  --schedules N   schedules to run with all safeties in (default 500)
  --seed S        seed of the first schedule; each next one has the next seed (default 1)
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
  const without = PROTOCOL_SAFETIES.find(({ name }) => name === values.break);
  if (values.break !== undefined && !without) {
    throw new UsageError(`Expected --break to be one of ${NAMES}, got '${values.break}'.`);
  }
  return { schedules, seed, json: values.json ?? false, help: values.help ?? false, without };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        schedules: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'boolean' },
        break: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
