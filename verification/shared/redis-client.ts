import type { RedisOptions } from 'ioredis';
import { createClient, createCluster, createSentinel } from 'redis';
import { fromNodeRedis } from '../../packages/node-redis/src/index.js';
import type { BloomRedis } from '../../src/store/redis/index.js';
import type { Address } from '../../test/support/tcp-proxy.js';
import { oneOf, UsageError } from './command-line.js';

const VARIABLE = 'BLOOM_VERIFICATION_CLIENT';
const CLIENTS = ['ioredis', 'node-redis'] as const;

export const CLIENT_USAGE = '  --client NAME   ioredis (default) or node-redis, for instances';

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

/** A server by its URL or address, or what sentinels name, by the client that was chosen. */
export function byChosenClient(redis: BloomRedis): BloomRedis {
  if (process.env[VARIABLE] !== 'node-redis') return redis;
  if (typeof redis === 'string') return fromNodeRedis(createClient({ url: redis }));
  if (!('host' in redis || 'sentinels' in redis)) return redis;
  const { sentinels, name, natMap, host, port, username, password } = redis as RedisOptions;
  if (!sentinels) return fromNodeRedis(createClient({ socket: { host, port }, username, password }));
  return fromNodeRedis(
    createSentinel({
      name: name!,
      sentinelRootNodes: sentinels as Address[],
      nodeAddressMap: natMap as Record<string, Address>,
    }),
  );
}

/**
 * A cluster, by the client that was chosen.
 *
 * @param roots addresses at which a client begins.
 * @param natMap where the addresses are that the nodes know.
 */
export function clusterByChosenClient(
  roots: readonly Address[],
  natMap: Record<string, Address>,
  byIoredis: () => BloomRedis,
): BloomRedis {
  if (process.env[VARIABLE] !== 'node-redis') return byIoredis();
  const rootNodes = roots.map((socket) => ({ socket }));
  return fromNodeRedis(createCluster({ rootNodes, nodeAddressMap: natMap }));
}
