import { SAFETIES, type Safety } from '../../test/support/broken-lua.js';
import { oneOf, positiveInteger, readOptions } from '../shared/command-line.js';
import { CLIENT_USAGE } from '../shared/redis-client.js';

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
  /** Name of the client of instances; that of ioredis unless it is given. */
  readonly client: string | undefined;
  /** A safety of the protocol to take out, to see that the oracle notices. */
  readonly without: Safety | undefined;
}

export const USAGE = `Usage: npm run faults -- [--json] [--quick] [--beyond] [--only TEXT]… [--jobs N] [--client NAME] [--break SAFETY]

  --json          print a line of JSON for each fault
  --quick         a part of the table that stands for the rest, in minutes
  --beyond        faults beyond the conditions of the promise instead: what they cost
  --only TEXT     faults whose lines, such as 'go-zero: FLUSHALL', begin with or contain the text
  --jobs N        faults that run at a time (default 3)
${CLIENT_USAGE}
  --break SAFETY  take a safety of the protocol out, to see that the oracle notices: ${SAFETIES.join(', ')}
`;

/** @throws {UsageError} */
export function parseFaultsArguments(words: readonly string[]): FaultsArguments {
  const {
    json = false,
    help = false,
    quick = false,
    beyond = false,
    only = [],
    ...values
  } = readOptions(words, {
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    beyond: { type: 'boolean' },
    quick: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    jobs: { type: 'string' },
    client: { type: 'string' },
    break: { type: 'string' },
  });
  const jobs = positiveInteger('jobs', values.jobs, 3);
  const { client } = values;
  return { json, help, quick, beyond, only, jobs, client, without: oneOf('break', values.break, SAFETIES) };
}
