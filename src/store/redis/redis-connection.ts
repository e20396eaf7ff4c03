import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { type BloomEventListener, BloomUnavailableError } from '../../common/index.js';
import { withDeadline } from './deadline.js';

export type RedisClient = Redis | Cluster;

/** Lua with its digest. */
export class Script {
  readonly sha1: string;

  constructor(
    readonly name: string,
    readonly source: string,
  ) {
    this.sha1 = createHash('sha1').update(source).digest('hex');
  }
}

export interface RedisTimeouts {
  /** Deadline of what a look-up waits for. */
  readonly timeoutMs: number;
  /** Deadline of an add and of each step of a rebuild. */
  readonly writeTimeoutMs: number;
}

/** A client drops a look-up at once when this many wait for a server that does not answer. */
const MAX_READS_WAITING = 1000;
/** Client states in which a command would only join a queue. */
const DISCONNECTED = new Set(['reconnecting', 'close', 'end', 'disconnecting']);

/** A client with deadlines, scripts by their digest, and a count of the connections it has had. */
export class RedisConnection {
  /** Grows whenever a connection to a server ends: what was known of that server has to be asked again. */
  epoch = 0;

  private readsWaiting = 0;
  private readonly onClose = () => {
    this.epoch++;
  };
  private readonly onNode = (node: Redis) => {
    this.epoch++;
    node.on('close', this.onClose);
  };
  private readonly onError = (error: unknown) => this.emit({ type: 'connection-error', error });

  constructor(
    private readonly client: RedisClient,
    private readonly owned: boolean,
    private readonly timeouts: RedisTimeouts,
    private readonly emit: BloomEventListener,
  ) {
    client.on('close', this.onClose);
    if (isCluster(client)) {
      client.on('+node', this.onNode);
      client.on('-node', this.onClose);
      for (const node of client.nodes()) node.on('close', this.onClose);
    }
    // A client that was handed over has its owner's listener.
    if (owned) client.on('error', this.onError);
  }

  /** The bytes `from` to `to`, both inclusive, of a string. */
  getRange(key: string, from: number, to: number): Promise<Buffer> {
    return this.read('getrange', () => this.client.getrangeBuffer(key, from, to));
  }

  /** Runs a script that a look-up waits for. */
  runRead(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return this.read(script.name, () => this.evaluate(script, keys, args));
  }

  /** Runs a script of an add or of a rebuild. */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return this.write(script.name, () => this.evaluate(script, keys, args));
  }

  /** Sets a key for a time if nobody has it; false when somebody has. */
  async setIfAbsent(key: string, value: string, lifeMs: number): Promise<boolean> {
    const reply = await this.write('set', () => this.client.set(key, value, 'PX', lifeMs, 'NX'));
    return reply === 'OK';
  }

  async unlink(key: string): Promise<void> {
    await this.write('unlink', () => this.client.unlink(key));
  }

  async close(): Promise<void> {
    const { client } = this;
    client.off('close', this.onClose);
    if (isCluster(client)) {
      client.off('+node', this.onNode);
      client.off('-node', this.onClose);
      for (const node of client.nodes()) node.off('close', this.onClose);
    }
    if (!this.owned) return;
    // Not QUIT: it would wait for a server that does not answer. Adds were awaited by their callers.
    client.disconnect();
  }

  private async read<Reply>(operation: string, send: () => Promise<Reply>): Promise<Reply> {
    if (this.readsWaiting >= MAX_READS_WAITING) {
      throw new BloomUnavailableError(`Redis has not answered the last ${MAX_READS_WAITING} look-ups.`);
    }
    this.assertConnected();
    this.readsWaiting++;
    const settle = () => {
      this.readsWaiting--;
    };
    const reply = send();
    reply.then(settle, settle);
    return withDeadline(reply, this.timeouts.timeoutMs, operation);
  }

  private async write<Reply>(operation: string, send: () => Promise<Reply>): Promise<Reply> {
    this.assertConnected();
    return withDeadline(send(), this.timeouts.writeTimeoutMs, operation);
  }

  private assertConnected(): void {
    const { status } = this.client;
    if (DISCONNECTED.has(status)) throw new BloomUnavailableError(`Redis is not connected (${status}).`);
  }

  private async evaluate(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await this.client.callBuffer('evalsha', script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.client.callBuffer('eval', script.source, keys.length, ...keys, ...args);
    }
  }
}

function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster;
}
