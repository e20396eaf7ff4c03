import type { Cluster, Redis } from 'ioredis';
import { describeError } from '../common/index.js';
import { RedisStore } from '../store/redis/index.js';
import { CliError, usageError } from './cli-error.js';
import { type RedisTarget, redisTarget, type RedisWords } from './redis-target.js';
import { wrongPrefix, IOREDIS_MISSING, cannotReach } from './cli.messages.js';

/** The options of commands on Redis. */
export interface RedisSessionWords extends RedisWords {
  readonly prefix: string;
  readonly timeout: number;
  /** Connects again after the connection has ended, for a command that goes on. */
  readonly reconnects?: boolean;
}

/** A connection of one command, and the store on it. */
export interface RedisSession {
  readonly store: RedisStore;
  readonly client: Redis | Cluster;
  readonly target: RedisTarget;
  close(): Promise<void>;
}

/** @throws {CliError} when the server cannot be reached. */
export async function openSession(
  words: RedisSessionWords,
  environment: NodeJS.ProcessEnv,
): Promise<RedisSession> {
  const target = redisTarget(words, environment);
  const { prefix, timeout } = words;
  if (!/^[^{}\s]+$/.test(prefix)) throw usageError(wrongPrefix(prefix));
  const client = await connect(target, timeout, words.reconnects ?? false);
  const store = await RedisStore.connect({
    redis: client,
    keyPrefix: prefix,
    timeoutMs: timeout,
    writeTimeoutMs: timeout,
    trustAfterFailover: true,
    emit: () => {},
  });
  return {
    store,
    client,
    target,
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}

async function connect(
  { options, cluster, shown, secrets }: RedisTarget,
  timeoutMs: number,
  reconnects: boolean,
): Promise<Redis | Cluster> {
  const ioredis = await import('ioredis').catch((cause: unknown) => {
    throw new CliError(IOREDIS_MISSING, undefined, { cause });
  });
  // A command that cannot reach its server says so at once: nobody waits for it.
  let hasConnected = false;
  const retryStrategy = () => (reconnects && hasConnected ? RECONNECT_MS : null);
  const once = {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    // How long a connection that does not close keeps a command that has ended.
    disconnectTimeout: 100,
    retryStrategy,
    sentinelRetryStrategy: retryStrategy,
  };
  let client: Redis | Cluster | undefined;
  let lastError: unknown;
  try {
    // ioredis refuses some options here, and others when it connects.
    client = cluster
      ? new ioredis.Cluster([...cluster.nodes], {
          ...cluster.options,
          lazyConnect: true,
          clusterRetryStrategy: retryStrategy,
          redisOptions: { ...options, connectTimeout: timeoutMs },
        })
      : new ioredis.Redis({ ...options, ...once });
    client.on('error', (error: unknown) => (lastError = error));
    await client.connect();
    hasConnected = true;
    return client;
  } catch (error) {
    client?.disconnect();
    const why = withoutSecrets(reasonOf(lastError ?? error), secrets);
    throw new CliError(cannotReach(shown, why, adviceOn(why)));
  }
}

const RECONNECT_MS = 500;

/** A cluster reports the nodes' errors within its own. */
function reasonOf(error: unknown): string {
  const { lastNodeError } = error as { lastNodeError?: unknown };
  const text = describeError(lastNodeError ?? error);
  // An error of several attempts has no text of its own.
  return (text || ((error as { code?: string }).code ?? 'no connection')).replace(/\.$/, '');
}

function adviceOn(why: string): string {
  if (/NOAUTH|WRONGPASS|NOPERM|invalid (username|password)/i.test(why))
    return 'Give the user and password: redis://user:password@host:6379, with special characters as %xx.';
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return 'Correct the name of the host.';
  if (/certificate|self.signed|SSL|TLS/i.test(why))
    return 'Give the certificate of the authority: --redis-options with { "tls": { "ca": "file:ca.pem" } }.';
  return 'See that it runs there, and that it can be reached from here; rediss:// is for TLS.';
}

/** A text in which nobody reads a password. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}
