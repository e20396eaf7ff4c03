import type { Cluster, Redis, RedisOptions } from 'ioredis';
import type { Socket } from 'node:net';
import { BloomConfigError, describeError } from '../../../common/index.js';
import type { ConnectionEnds, RedisClient, RedisClientEvents, RedisNodes, RedisWord } from '../../index.js';
import { coreLua } from '../lua/core.generated.js';
import {
  clientOfReplica,
  IOREDIS_MISSING,
  PIPELINES_SCRIPTS,
  readsFromReplicas,
  refusedByIoredis,
  SERVER_IS_REPLICA,
} from './client.messages.js';
import { IoredisExtraConnection } from './ioredis-extra-connection.js';
import { defineScripts, evaluate } from './script.js';

/** Missing in the types of ioredis, whose `callBuffer` fails with `enableAutoPipelining`. */
type ScriptingCommands = Record<
  'evalshaBuffer' | 'evalBuffer',
  (script: string, keyCount: number, ...keysAndArgs: RedisWord[]) => Promise<unknown>
>;

const { command: ANY_COMMAND } = defineScripts(coreLua, ['command']);

/** Client states in which a command would only join a queue. */
const DISCONNECTED = new Set(['reconnecting', 'close', 'end', 'disconnecting']);
/** As ioredis has them while a server is there that could be left. */
const CONNECTED = new Set(['ready', 'connect']);
/** A connection that is not ready after this time is opened again. */
const READY_WITHIN_MS = 2000;
/** A client that reconnects on READONLY on its own has so long to find the master. */
const CLIENT_SEARCHES_MS = 3000;
/** A client of ioredis. */
export class IoredisClient implements RedisClient {
  readonly keyPrefix: string;
  readonly nodes: RedisNodes | undefined;
  readonly getRange: RedisClient['getRange'];
  readonly openExtra: RedisClient['openExtra'];
  readonly openSilent: RedisClient['openSilent'];
  readonly reconnect: RedisClient['reconnect'];
  private readonly single: Redis | undefined;
  private events: RedisClientEvents | undefined;
  private connectedAt: number | undefined;
  private handshake: NodeJS.Timeout | undefined;

  /** @param owned whether it is the store's. */
  constructor(
    private readonly client: Redis | Cluster,
    private readonly owned: boolean,
  ) {
    this.keyPrefix = client.options.keyPrefix ?? '';
    this.getRange = client.getrangeBuffer.bind(client);
    if (isCluster(client)) {
      this.nodes = {
        masterOf: (slot) => String(client.slots[slot]?.[0]),
        all: () => client.slots.flatMap((nodes) => nodes?.[0] ?? []),
      };
      return;
    }
    this.single = client;
    this.openExtra = (events, silentMs) => new IoredisExtraConnection(client, events, silentMs);
    this.openSilent = (events) => new IoredisExtraConnection(client, events);
    // One whose options forbid to connect again would be lost.
    if (owned && typeof client.options.retryStrategy === 'function') {
      this.reconnect = () => {
        const isConnected = CONNECTED.has(client.status);
        if (isConnected) client.disconnect(true);
        return isConnected;
      };
    }
  }

  get disconnected(): string | undefined {
    const { status } = this.client;
    return DISCONNECTED.has(status) ? status : undefined;
  }

  get isSettled(): boolean {
    const { status } = this.client;
    return !DISCONNECTED.has(status) && status !== 'connecting' && status !== 'connect';
  }

  listen(events: RedisClientEvents): void {
    const { client } = this;
    this.events = events;
    this.eachListener('on');
    if (isCluster(client)) for (const node of client.nodes()) node.on('close', this.onClose);
  }

  command(name: string, key: string, args: readonly RedisWord[]): Promise<unknown> {
    // A cluster client finds the node of a script by its keys, but not that of a command it does not know.
    if (!this.single) return evaluate(this, ANY_COMMAND, [key], [name, ...args]);
    // Nor does the client know where such a command has its key.
    const isKnown = name.toLowerCase() in this.single;
    return this.single.call(name, isKnown ? key : this.keyPrefix + key, ...args);
  }

  evalsha(sha1: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return (this.client as unknown as ScriptingCommands).evalshaBuffer(sha1, keys.length, ...keys, ...args);
  }

  eval(source: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return (this.client as unknown as ScriptingCommands).evalBuffer(source, keys.length, ...keys, ...args);
  }

  masters(): ((...words: RedisWord[]) => Promise<unknown>)[] {
    const { client } = this;
    return (isCluster(client) ? client.nodes('master') : [client]).map(
      (node) =>
        (name, ...args) =>
          node.call(String(name), ...args),
    );
  }

  adviceOnReplica(lostMs: number): string | undefined {
    if (this.reconnect || !this.single) return undefined;
    const searches = typeof this.single.options.reconnectOnError === 'function';
    return searches && !(lostMs >= CLIENT_SEARCHES_MS) ? undefined : SERVER_IS_REPLICA;
  }

  ends(): ConnectionEnds | undefined {
    const { localAddress, localPort, remoteAddress, remotePort } = (this.single?.stream ??
      {}) as Partial<Socket>;
    // A Unix socket has none.
    if (localAddress === undefined || remoteAddress === undefined) return undefined;
    return {
      local: `${localAddress}:${localPort}`,
      remote: `${remoteAddress}:${remotePort}`,
      openMs: this.connectedAt === undefined ? undefined : performance.now() - this.connectedAt,
    };
  }

  close(): void {
    const { client } = this;
    clearTimeout(this.handshake);
    this.eachListener('off');
    if (isCluster(client)) for (const node of client.nodes()) node.off('close', this.onClose);
    // Not QUIT: it would wait for a server that does not answer. Adds were awaited by their callers.
    if (this.owned) client.disconnect();
  }

  private eachListener(does: 'on' | 'off'): void {
    const { client } = this;
    client[does]('close', this.onClose);
    if (isCluster(client)) {
      client[does]('+node', this.onNode);
      client[does]('-node', this.onClose);
      client[does]('refresh', this.onRefresh);
    } else client[does]('connect', this.onConnect);
    if (this.reconnect) client[does]('ready', this.onReady);
    // A client that was handed over has its owner's listener, and one of the store's goes on to need one.
    if (this.owned && does === 'on') client.on('error', (error: unknown) => this.events!.onError(error));
  }

  private readonly onClose = () => {
    clearTimeout(this.handshake);
    // A client that sends nothing again never settles what was on its way.
    this.events!.onEnded(!sendsAgain(this.client));
  };
  private readonly onNode = (node: Redis) => {
    this.events!.onEnded(false);
    node.on('close', this.onClose);
  };
  private readonly onRefresh = () => this.events!.onSlots();
  private readonly onConnect = () => {
    this.connectedAt = performance.now();
    if (!this.reconnect) return;
    clearTimeout(this.handshake);
    this.handshake = setTimeout(() => {
      // A server that loads its data may be one that the address has left.
      if (this.single!.status === 'connect') this.single!.disconnect(true);
    }, READY_WITHIN_MS).unref();
  };
  private readonly onReady = () => clearTimeout(this.handshake);
}

function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}

/** Whether the client sends again, on its next connection, what was on its way when the last one ended. */
function sendsAgain(client: Redis | Cluster): boolean {
  const { autoResendUnfulfilledCommands } = isCluster(client)
    ? (client.options.redisOptions ?? {})
    : client.options;
  return autoResendUnfulfilledCommands !== false;
}

/**
 * @throws {BloomConfigError} when ioredis is not installed, or refuses the options.
 */
export async function createIoredis(
  redis: string | RedisOptions,
  writeTimeoutMs: number,
): Promise<IoredisClient> {
  const ioredis = await import('ioredis').catch((cause: unknown) => {
    throw new BloomConfigError(IOREDIS_MISSING, { cause });
  });
  // Protection is to be back within a second of the server.
  const retryStrategy = (attempt: number) => Math.min(50 * attempt, 1000);
  const maxLoadingRetryTime = 1000;
  // How long a server that does not answer, or is not there, keeps a process that ends.
  const disconnectTimeout = 500;
  // A server that is gone without a word keeps no connection: its address may lead to another one.
  const timeouts = { connectTimeout: 3000, socketTimeout: Math.max(2000, writeTimeoutMs) + 1000 };
  // Connects with the first command: an application that does not start for a bad option leaves nothing open.
  const defaults = { retryStrategy, maxLoadingRetryTime, disconnectTimeout, ...timeouts, lazyConnect: true };
  try {
    const client =
      typeof redis === 'string'
        ? new ioredis.Redis(redis, defaults)
        : new ioredis.Redis({ ...defaults, ...redis });
    assertUsable(client);
    return new IoredisClient(client, true);
  } catch (error) {
    if (error instanceof BloomConfigError) throw error;
    // The error itself has the URL, and so its password.
    throw new BloomConfigError(refusedByIoredis(describeError(error)));
  }
}

/**
 * A replica lags: an id that was added is not there yet, and its lookup would be answered "absent". And
 * automatic pipelines of a cluster take the first argument of any command for its key, which for a script is
 * its digest.
 *
 * @throws {BloomConfigError} when the client given reads from replicas or may not be used.
 */
export function assertUsable(client: Redis | Cluster): void {
  const { options } = client as { options: ClientOptions };
  const { scaleReads = 'master', role = 'master', autoPipeliningIgnoredCommands: ignored = [] } = options;
  if (scaleReads !== 'master') throw new BloomConfigError(readsFromReplicas(String(scaleReads)));
  if (role !== 'master') throw new BloomConfigError(clientOfReplica(String(role)));
  const sendsScriptsAstray = client.isCluster && options.enableAutoPipelining;
  if (sendsScriptsAstray && !['eval', 'evalsha'].every((command) => ignored.includes(command))) {
    throw new BloomConfigError(PIPELINES_SCRIPTS);
  }
}

interface ClientOptions {
  readonly scaleReads?: unknown;
  readonly role?: unknown;
  readonly enableAutoPipelining?: boolean;
  readonly autoPipeliningIgnoredCommands?: readonly string[];
}
