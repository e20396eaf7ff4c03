import { SAFETIES, type Safety } from '../../test/support/broken-lua.js';
import { UsageError, oneOf, positiveInteger, readOptions } from '../shared/command-line.js';
import { CLIENT_USAGE } from '../shared/redis-client.js';

export interface ReplayArguments {
  /** Folder of `catalog.csv` and `orders.csv.gz`; without it a trace is generated. */
  readonly data: string | undefined;
  /** Replay only so many order lines. */
  readonly limit: number;
  readonly json: boolean;
  readonly help: boolean;
  /** A cluster of three masters and three replicas in place of one Redis, and a filter divided over them. */
  readonly cluster: boolean;
  /** The filter is divided on one Redis, and its parts are read with leases. */
  readonly leased: boolean;
  /** Without Redis: each instance has the filter in memory. */
  readonly memory: boolean;
  /** Name of the client of instances; that of ioredis unless it is given. */
  readonly client: string | undefined;
  /** A safety of the protocol to take out, to see that the replay notices. */
  readonly without: Safety | undefined;
}

export const USAGE = `Usage: npm run replay -- [--data FOLDER] [--limit N] [--json] [--cluster | --leased | --memory] [--client NAME] [--break SAFETY]

  --data FOLDER   folder of catalog.csv and orders.csv.gz; without it a trace is generated
  --limit N       replay the first N order lines only
  --json          print the figures as one JSON object
  --cluster       on three masters and three replicas, with 16 partitions; slots move meanwhile, and a replica takes over
  --leased        on one Redis, whose copies answer "absent" without it
  --memory        without Redis: products are rows of Postgres that nobody adds, and each instance follows by itself
${CLIENT_USAGE}
  --break SAFETY  take a safety of the protocol out, to see that the replay notices: ${SAFETIES.join(', ')}
`;

/** @throws {UsageError} */
export function parseReplayArguments(words: readonly string[]): ReplayArguments {
  const {
    data,
    json = false,
    help = false,
    cluster = false,
    leased = false,
    memory = false,
    ...values
  } = readOptions(words, {
    data: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    cluster: { type: 'boolean' },
    leased: { type: 'boolean' },
    memory: { type: 'boolean' },
    client: { type: 'string' },
    break: { type: 'string' },
  });
  if (cluster && leased)
    throw new UsageError('Expected --cluster or --leased, got both: a cluster has no leases.');
  if (values.client !== undefined && memory)
    throw new UsageError('Expected --client without --memory, which needs no client.');
  if (memory && (cluster || leased || values.break !== undefined))
    throw new UsageError('Expected --memory alone: it has no Redis.');
  const limit = positiveInteger('limit', values.limit, Infinity);
  return {
    data,
    limit,
    json,
    help,
    cluster,
    leased,
    client: values.client,
    memory,
    without: oneOf('break', values.break, SAFETIES),
  };
}
