import { oneOf, positiveInteger, readOptions, UsageError } from '../shared/command-line.js';
import type { Safety } from './broken-store.js';
import { FAMILIES } from './families/all-families.js';

export interface ExploreArguments {
  readonly schedules: number;
  readonly seed: number;
  /** As many of each kind of filters, and not of all kinds together. */
  readonly each: boolean;
  /** Only with all safeties in. */
  readonly intact: boolean;
  /** The schedules too that failed once. */
  readonly pinned: boolean;
  readonly json: boolean;
  readonly help: boolean;
  /** Only filters of this kind. */
  readonly family: string | undefined;
  /** Take this safety out, and show the shortest schedule that fails. */
  readonly without: Safety | undefined;
}

const SAFETIES = FAMILIES.flatMap(({ safeties }) => safeties);
const NAMES = SAFETIES.map(({ name }) => name);
const FAMILY_NAMES = FAMILIES.map(({ name }) => name);

export const USAGE = `Usage: npm run explore -- [--schedules N] [--each] [--seed S] [--family NAME] [--pinned] [--intact] [--json] [--break SAFETY]

  --schedules N   schedules to run with all safeties in, of all kinds of filters (default 500)
  --each          so many schedules of each kind, and not of all kinds together
  --seed S        seed of the first schedule; each next one has the next seed (default 1); fresh: another one each time, which is printed
  --family NAME   only filters of one kind: ${FAMILY_NAMES.join(', ')}
  --pinned        begin with the schedules that failed once, whatever their seeds
  --intact        do not take any safety out afterwards
  --json          print the figures as one JSON object
  --break SAFETY  only take this safety out and show the shortest schedule that fails:
                  ${NAMES.join(', ')}
`;

/** @throws {UsageError} */
export function parseExploreArguments(words: readonly string[]): ExploreArguments {
  const {
    json = false,
    help = false,
    each = false,
    intact = false,
    pinned = false,
    ...values
  } = readOptions(words, {
    schedules: { type: 'string' },
    seed: { type: 'string' },
    family: { type: 'string' },
    each: { type: 'boolean' },
    intact: { type: 'boolean' },
    pinned: { type: 'boolean' },
    json: { type: 'boolean' },
    break: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  });
  const schedules = positiveInteger('schedules', values.schedules, 500);
  const seed = values.seed === 'fresh' ? freshSeed() : Number(values.seed ?? 1);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)) {
    throw new UsageError(
      `Expected --seed to be an integer from 0 to below 2^31, or 'fresh', got '${values.seed}'.`,
    );
  }
  const broken = oneOf('break', values.break, NAMES);
  const without = SAFETIES.find(({ name }) => name === broken);
  const family = oneOf('family', values.family, FAMILY_NAMES);
  return { schedules, seed, each, intact, pinned, family, json, help, without };
}

/** Far from those of the documentation, with room for a hundred million schedules. */
function freshSeed(): number {
  return 10_000_000 + Math.floor(Math.random() * 2_000_000_000);
}
