import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { describeError, RedisStore } from 'nestjs-bloom/internal';
import { CliError, usageError } from './cli-error.js';
import { type RedisTarget, redisTarget, type RedisWords } from './redis-target.js';
import { wrongPrefix, IOREDIS_MISSING, cannotReach } from './cli.messages.js';

/** The options of commands on Redis. */
export interface RedisSessionWords extends RedisWords {
  readonly prefix: string;
  readonly timeout: number;
}

/** A connection of one command, and the store on it. */
export interface RedisSession {
  readonly store: RedisStore;
  readonly client: Redis | Cluster;
  /** Where the server is, for people; without a password. */
  readonly address: string;
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
  const client = await connect(target, timeout);
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
    address: addressOf(client, target),
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}

async function connect(target: RedisTarget, timeoutMs: number): Promise<Redis | Cluster> {
  const ioredis = await import('ioredis').catch((cause: unknown) => {
    throw new CliError(IOREDIS_MISSING, undefined, { cause });
  });
  let client: Redis | Cluster | undefined;
  let lastError: unknown;
  try {
    // ioredis refuses some options here, and others when it connects.
    client = clientOf(ioredis, target, timeoutMs);
    client.on('error', (error: unknown) => (lastError = error));
    await client.connect();
    return client;
  } catch (error) {
    client?.disconnect();
    const why = withoutSecrets(reasonOf(lastError ?? error), client?.options ?? {}, target.options);
    throw new CliError(cannotReach(addressOf(client, target), why, adviceOn(why)));
  }
}

function clientOf(
  { Redis, Cluster }: Pick<typeof import('ioredis'), 'Redis' | 'Cluster'>,
  { url, options, cluster }: RedisTarget,
  timeoutMs: number,
): Redis | Cluster {
  // A command that cannot reach its server says so at once: nobody waits for it.
  const never = () => null;
  const once = { lazyConnect: true, connectTimeout: timeoutMs };
  if (cluster) {
    const redisOptions = { ...options, connectTimeout: timeoutMs };
    return new Cluster(cluster.nodes, {
      ...cluster.options,
      lazyConnect: true,
      clusterRetryStrategy: never,
      redisOptions,
    });
  }
  const whole = {
    ...options,
    ...once,
    // How long a connection that does not close keeps a command that has ended.
    disconnectTimeout: 100,
    retryStrategy: never,
    sentinelRetryStrategy: never,
  };
  return url === undefined ? new Redis(whole) : new Redis(url, whole);
}

/** The server that ioredis has read from the URL; a file of options may name several. */
function addressOf(client: Redis | Cluster | undefined, { url, saidBy }: RedisTarget): string {
  if (url === undefined || !client) return `the server of ${saidBy}`;
  const { path, host, port } = client.options as RedisOptions;
  return path ?? `${host}:${port}`;
}

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
function withoutSecrets(text: string, ...from: readonly RedisOptions[]): string {
  const secrets = from
    .flatMap(({ password, sentinelPassword }) => [password, sentinelPassword])
    .filter((one): one is string => typeof one === 'string' && one !== '');
  return secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}
