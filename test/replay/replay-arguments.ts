import { parseArgs } from 'node:util';
import { SAFETIES, type Safety } from '../support/broken-lua.js';

export interface ReplayArguments {
  /** Folder of `catalog.csv` and `orders.csv.gz`; without it a trace is generated. */
  readonly data: string | undefined;
  /** Replay only so many order lines. */
  readonly limit: number;
  readonly json: boolean;
  readonly help: boolean;
  /** A safety of the protocol to take out, to see that the replay notices. */
  readonly without: Safety | undefined;
}

export const USAGE = `Usage: npm run replay -- [--data FOLDER] [--limit N] [--json] [--break SAFETY]

  --data FOLDER   folder of catalog.csv and orders.csv.gz; without it a trace is generated
  --limit N       replay the first N order lines only
  --json          print the figures as one JSON object
  --break SAFETY  take a safety of the protocol out, to see that the replay notices: ${SAFETIES.join(', ')}
`;

export class UsageError extends Error {}

/** @throws {UsageError} */
export function parseReplayArguments(words: readonly string[]): ReplayArguments {
  const values = parsed(words);
  const limit = values.limit === undefined ? Infinity : Number(values.limit);
  if (!(limit >= 1)) throw new UsageError(`Expected --limit to be a positive number, got '${values.limit}'.`);
  const without = SAFETIES.find((safety) => safety === values.break);
  if (values.break !== undefined && !without) {
    throw new UsageError(`Expected --break to be one of ${SAFETIES.join(', ')}, got '${values.break}'.`);
  }
  return { data: values.data, limit, json: values.json ?? false, help: values.help ?? false, without };
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      options: {
        data: { type: 'string' },
        limit: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        break: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}
