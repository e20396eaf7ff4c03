import { BloomConfigError, type BloomRedisClient } from 'nestjs-bloom';
import { ClusterClient, type ClusterOptions } from './cluster-client.js';
import type { NodeRedis } from './connection.js';
import { KEEPS_ITS_OPTIONS, notAClient, READS_FROM_REPLICA } from './node-redis.messages.js';
import { OwnClient } from './own-client.js';
import { ClientPlace } from './place.js';
import { type SentinelOptions, SentinelPlace } from './sentinel-place.js';

/** What `createClient()` of `redis` 5 or 6 gives. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  select(db: number): Promise<unknown>;
  duplicate(): object;
}

/** What `createCluster()` of `redis` 5 or 6 gives. */
export interface NodeRedisCluster {
  readonly slots: readonly unknown[];
  duplicate(): object;
}

/** What `createSentinel()` of `redis` 6 gives. */
export interface NodeRedisSentinel {
  getMasterNode(): unknown;
  duplicate(): object;
}

/** What is used of the options of `createSentinel()` of `redis` 5 or 6. */
export interface NodeRedisSentinelOptions {
  readonly name: string;
  readonly sentinelRootNodes: readonly { readonly host: string; readonly port: number }[];
  readonly nodeClientOptions?: object;
  readonly sentinelClientOptions?: object;
  readonly nodeAddressMap?: object;
  readonly keyPrefix?: unknown;
}

/**
 * For the option `redis` of `BloomModule`. Filters open connections of their own with the options of the
 * client, which may be connected or not. They never read from replicas.
 *
 * @example
 * ```ts
 * BloomModule.forRoot({ redis: fromNodeRedis(createClient({ url: 'redis://localhost:6379' })) });
 * ```
 * @throws {BloomConfigError} for a pool or a client that reads from replicas.
 */
export function fromNodeRedis(
  client: NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | NodeRedisSentinelOptions,
): BloomRedisClient {
  if (isClient(client)) {
    if (client.options?.readonly) throw new BloomConfigError(READS_FROM_REPLICA);
    const place = new ClientPlace(client);
    return {
      openClient: (writeTimeoutMs) => new OwnClient(place, client.options?.keyPrefix, writeTimeoutMs),
    };
  }
  if (has(client, 'nodeClient', 'duplicate')) {
    const options = optionsOf(client as NodeRedisCluster) as ClusterOptions;
    return { openClient: (writeTimeoutMs) => new ClusterClient(options, writeTimeoutMs) };
  }
  const options = sentinelOptionsOf(client);
  if (!options) throw new BloomConfigError(notAClient(whatItIs(client)));
  const place = new SentinelPlace(options);
  return { openClient: (writeTimeoutMs) => new OwnClient(place, options.keyPrefix, writeTimeoutMs) };
}

/** A Cluster and a Sentinel can `duplicate()` too, and select no database. */
function isClient(client: unknown): client is NodeRedis {
  return has(client, 'duplicate', 'select', 'sendCommand', 'withTypeMapping');
}

function sentinelOptionsOf(given: unknown): SentinelOptions | undefined {
  if (has(given, 'getMasterNode')) {
    if (!has(given, 'duplicate')) throw new BloomConfigError(KEEPS_ITS_OPTIONS);
    return optionsOf(given as NodeRedisSentinel) as SentinelOptions;
  }
  const { name, sentinelRootNodes: sentinels } = (given ?? {}) as Partial<SentinelOptions>;
  const isWhole = typeof name === 'string' && Array.isArray(sentinels) && sentinels.length > 0;
  return isWhole ? (given as SentinelOptions) : undefined;
}

/** A Cluster and a Sentinel give their options only to the class of a duplicate. */
function optionsOf(source: { duplicate(): object }): unknown {
  const value = function (options: object) {
    return options;
  };
  return source.duplicate.call(Object.create(Object.create(source, { constructor: { value } })));
}

function has(value: unknown, ...methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

function whatItIs(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'function' ? 'a function' : String(value);
  return `an object of the class ${value.constructor?.name || 'without a name'}`;
}
