import { createClient } from 'redis';
import { fromNodeRedis } from '../../packages/node-redis/src/index.js';
import type { BloomRedis } from '../../src/store/redis/index.js';
import { oneOf, UsageError } from './command-line.js';

const VARIABLE = 'BLOOM_VERIFICATION_CLIENT';
const CLIENTS = ['ioredis', 'node-redis'] as const;

export const CLIENT_USAGE =
  '  --client NAME   ioredis (default) or node-redis, for instances on one server; on a cluster or Sentinel it is ioredis';

/**
 * Processes that are started from here on use it too.
 *
 * @throws {UsageError}
 */
export function useClient(name: string | undefined, breaks: boolean): void {
  const client = oneOf('client', name, CLIENTS);
  if (client === 'node-redis' && breaks)
    throw new UsageError(
      'Expected --client node-redis without --break, which changes scripts on their way through ioredis.',
    );
  if (client !== undefined) process.env[VARIABLE] = client;
}

/** The server of a URL, or of a host and port, by the client that was chosen. */
export function byChosenClient(redis: BloomRedis): BloomRedis {
  if (process.env[VARIABLE] !== 'node-redis') return redis;
  if (typeof redis === 'string') return fromNodeRedis(createClient({ url: redis }));
  if (!('host' in redis) || !('port' in redis)) return redis;
  const { host = 'localhost', port = 6379, username, password } = redis;
  return fromNodeRedis(
    createClient({
      socket: { host, port },
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
    }),
  );
}
