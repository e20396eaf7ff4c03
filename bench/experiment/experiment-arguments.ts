import { positiveInteger, readOptions } from '../../verification/shared/command-line.js';
import { SEED } from '../../test/support/random.js';
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

/** @throws {UsageError} */
export function parseExperimentArguments(words: readonly string[]): ExperimentArguments {
  const {
    json = false,
    help = false,
    ...values
  } = readOptions(words, {
    capacity: { type: 'string' },
    'bits-per-id': { type: 'string' },
    probes: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  const capacity = positiveInteger('capacity', values.capacity, 1_000_000);
  return {
    capacity,
    bitsPerId: positiveInteger('bits-per-id', values['bits-per-id'], 20),
    inserted: Math.floor(capacity / 2),
    probes: positiveInteger('probes', values.probes, 2_000_000),
    seed: SEED,
    json,
    help,
  };
}
