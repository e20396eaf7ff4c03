import { BloomConfigError, type BloomRedisClient } from 'nestjs-bloom';
import type { NodeRedis } from './connection.js';
import { notAClient, READS_FROM_REPLICA } from './node-redis.messages.js';
import { OwnClient } from './own-client.js';

/** What `createClient()` of `redis` 5 or 6 gives. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  select(db: number): Promise<unknown>;
  duplicate(): object;
}

/**
 * For the option `redis` of `BloomModule`. Filters open a connection of their own with the options of the
 * client, which may be connected or not.
 *
 * @example
 * ```ts
 * BloomModule.forRoot({ redis: fromNodeRedis(createClient({ url: 'redis://localhost:6379' })) });
 * ```
 * @throws {BloomConfigError} for a Cluster, a Sentinel, a pool or a client that reads from replicas.
 */
export function fromNodeRedis(client: NodeRedisClient): BloomRedisClient {
  if (!isClient(client)) throw new BloomConfigError(notAClient(whatItIs(client)));
  if (client.options?.['readonly']) throw new BloomConfigError(READS_FROM_REPLICA);
  return { openClient: (writeTimeoutMs) => new OwnClient(client, writeTimeoutMs) };
}

/** A Cluster and a Sentinel can `duplicate()` too, and select no database. */
function isClient(client: unknown): client is NodeRedis {
  if (typeof client !== 'object' || client === null) return false;
  return ['duplicate', 'select', 'sendCommand', 'withTypeMapping'].every(
    (name) => typeof (client as Record<string, unknown>)[name] === 'function',
  );
}

function whatItIs(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? 'a function' : String(value);
  return `an object of the class ${value.constructor?.name || 'without a name'}`;
}
