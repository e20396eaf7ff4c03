import { parseArgs } from 'node:util';
import { SEED } from '../support/random.js';
import type { Experiment } from './experiment.js';

export interface ExperimentArguments extends Experiment {
  readonly json: boolean;
  readonly help: boolean;
}

export const USAGE = `Usage: npm run experiment -- [--capacity N] [--bits-per-id N] [--probes N] [--json]

  --capacity N     ids the filters are made for; half of them are inserted (default 1,000,000)
  --bits-per-id N  size of the filters (default 20)
  --probes N       absent UUIDs looked up (default 2,000,000)
  --json           print the figures as one JSON object

The environment variable SEED chooses other UUIDs.
`;

export class UsageError extends Error {}

/** @throws {UsageError} */
export function parseExperimentArguments(words: readonly string[]): ExperimentArguments {
  const values = parsed(words);
  const capacity = positive('capacity', values.capacity, 1_000_000);
  return {
    capacity,
    bitsPerId: positive('bits-per-id', values['bits-per-id'], 20),
    inserted: Math.floor(capacity / 2),
    probes: positive('probes', values.probes, 2_000_000),
    seed: SEED,
    json: values.json ?? false,
    help: values.help ?? false,
  };
}

function positive(name: string, text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`Expected --${name} to be a positive integer, got '${text}'.`);
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        capacity: { type: 'string' },
        'bits-per-id': { type: 'string' },
        probes: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
