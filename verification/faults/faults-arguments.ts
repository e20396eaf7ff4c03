import { parseArgs } from 'node:util';
import { SAFETIES, type Safety } from '../../test/support/broken-lua.js';

export interface FaultsArguments {
  readonly json: boolean;
  readonly help: boolean;
  readonly quick: boolean;
  /** Faults beyond the conditions of the promise, in place of the table. */
  readonly beyond: boolean;
  /** Faults whose groups and names, such as `keys: FLUSHALL`, contain one of these texts. */
  readonly only: readonly string[];
  /** Faults that run at a time. */
  readonly jobs: number;
  /** A safety of the protocol to take out, to see that the oracle notices. */
  readonly without: Safety | undefined;
}

export const USAGE = `Usage: npm run faults -- [--json] [--quick] [--beyond] [--only TEXT]… [--jobs N] [--break SAFETY]

  --json          print a line of JSON for each fault
  --quick         a part of the table that stands for the rest, in less than a minute
  --beyond        faults beyond the conditions of the promise instead: what they cost
  --only TEXT     faults whose lines, such as 'go-zero: FLUSHALL', begin with or contain the text
  --jobs N        faults that run at a time (default 3)
  --break SAFETY  take a safety of the protocol out, to see that the oracle notices: ${SAFETIES.join(', ')}
`;

export class UsageError extends Error {}

/** @throws {UsageError} */
export function parseFaultsArguments(words: readonly string[]): FaultsArguments {
  const { json = false, help = false, quick = false, beyond = false, only = [], ...values } = parsed(words);
  const { jobs: text = '3' } = values;
  const jobs = Number(text);
  if (!(Number.isSafeInteger(jobs) && jobs >= 1))
    throw new UsageError(`Expected --jobs to be a positive number, got '${text}'.`);
  const without = SAFETIES.find((safety) => safety === values.break);
  if (values.break !== undefined && !without)
    throw new UsageError(`Expected --break to be one of ${SAFETIES.join(', ')}, got '${values.break}'.`);
  return { json, help, quick, beyond, only, jobs, without };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        beyond: { type: 'boolean' },
        quick: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        jobs: { type: 'string' },
        break: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
