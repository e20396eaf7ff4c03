import type { Cluster, Redis } from 'ioredis';
import { type BloomEventListener, BloomUnavailableError } from '../../../common/index.js';
import { notConnected, tooManyLookupsWaiting } from './client.messages.js';
import { DeadlineError, withDeadline } from './deadline.js';
import { isCluster, LookupsByNode, type NodeLookups } from './lookups-by-node.js';
import { MasterSearch } from './master-search.js';
import { defineScripts, type Script } from './script.js';
import { coreLua } from '../lua/core.generated.js';
import { ServerPath } from './server-path.js';
import { ServerRuns } from './server-path.js';

export type RedisClient = Redis | Cluster;

/** A script on its way. */
export interface SentScript<Reply> {
  /** Rejects also when the deadline has passed; the script may run yet. */
  readonly reply: Promise<Reply>;
  /** Resolves when the client has the reply, or expects none any more. */
  readonly settled: Promise<void>;
}

export interface RedisTimeouts {
  /** Deadline of what a lookup waits for. */
  readonly timeoutMs: number;
  /** Deadline of an add and of each step of a rebuild. */
  readonly writeTimeoutMs: number;
}

/** Missing in the types of ioredis, whose `callBuffer` fails with `enableAutoPipelining`. */
type ScriptingCommands = Record<
  'evalshaBuffer' | 'evalBuffer',
  (script: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]) => Promise<unknown>
>;

const { command: ANY_COMMAND } = defineScripts(coreLua, ['command']);

/** A client drops a lookup at once when this many wait for a server that does not answer. */
const MAX_READS_WAITING = 1000;
/** Keys that one step of a walk looks at: it holds the server for less than a millisecond. */
const KEYS_PER_SCAN = 1000;
/** Client states in which a command would only join a queue. */
const DISCONNECTED = new Set(['reconnecting', 'close', 'end', 'disconnecting']);

/** A client with deadlines, scripts by their digest, and the name of the server that answers. */
export class RedisConnection {
  private closed = false;
  readonly nodes: LookupsByNode;
  private readonly unsettled = new Set<() => void>();
  private readonly onClose = () => {
    this.nodes.beginEpoch();
    // Such a client never settles what was on its way.
    if (sendsAgain(this.client)) return;
    this.nodes.forgetWaiting();
    for (const settle of this.unsettled) settle();
  };
  private readonly onNode = (node: Redis) => {
    this.nodes.beginEpoch();
    node.on('close', this.onClose);
  };
  private readonly onRefresh = () => this.nodes.dropUnused();
  private readonly onError = (error: unknown) => this.emit({ type: 'connection-error', error });
  /** Where the connection leads when its server is no master. */
  readonly master: MasterSearch;
  /** What there is between the connection and its server. */
  readonly path: ServerPath;
  /** Which run of a server answers. */
  readonly runs = new ServerRuns();

  constructor(
    private readonly client: RedisClient,
    private readonly owned: boolean,
    private readonly timeouts: RedisTimeouts,
    private readonly emit: BloomEventListener,
  ) {
    this.nodes = new LookupsByNode(client, { emit, timeoutMs: timeouts.timeoutMs });
    this.master = new MasterSearch(client, owned, emit);
    this.path = new ServerPath(client);
    client.on('close', this.onClose);
    if (isCluster(client)) {
      client.on('+node', this.onNode);
      client.on('-node', this.onClose);
      client.on('refresh', this.onRefresh);
      for (const node of client.nodes()) node.on('close', this.onClose);
    }
    // A client that was handed over has its owner's listener.
    if (owned) client.on('error', this.onError);
  }

  isCircuitOpen(key: string): boolean {
    return this.nodes.of(key).isCircuitOpen;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  get writeTimeoutMs(): number {
    return this.timeouts.writeTimeoutMs;
  }

  /**
   * Names the server that answers for a key: with another name, what was known of the server has to be asked
   * again. A slot of a cluster goes to another node also without a connection being closed; the client notes
   * it before it asks that node.
   */
  serverOf(key: string): string {
    return this.nodes.of(key).server;
  }

  /** The bytes `from` to `to`, both inclusive, of a string. */
  getRange(key: string, from: number, to: number): Promise<Buffer> {
    const command: () => Promise<Buffer> = this.client.getrangeBuffer.bind(this.client, key, from, to);
    return this.carryOut(command, this.nodes.of(key).reads);
  }

  /** The same, for what no lookup waits for. */
  getPiece(key: string, from: number, to: number): Promise<Buffer> {
    return this.write('getrange', () => this.client.getrangeBuffer(key, from, to));
  }

  /** Runs a command of one key that ioredis does not know, and that a lookup waits for. */
  commandRead(name: string, key: string, args: readonly (string | Buffer)[]): Promise<unknown> {
    return this.read(key, () => this.command(name, key, args));
  }

  /** The same, for what no lookup waits for. */
  commandWrite(name: string, key: string, args: readonly (string | Buffer)[]): Promise<unknown> {
    return this.write(name, () => this.command(name, key, args));
  }

  /** Runs a script that a lookup waits for. */
  runRead(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return this.read(keys[0]!, () => this.evaluate(script, keys, args));
  }

  /** Runs a script of an add or of a rebuild. */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    return this.write(script.name, () => this.evaluate(script, keys, args));
  }

  /** The same, for a script that matters also when its caller has given it up. */
  send<Reply>(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
    parse: (reply: unknown, script: Script) => Reply,
  ): SentScript<Reply> {
    let sent: Promise<unknown> | undefined;
    const reply = this.write(script.name, () => (sent = this.evaluate(script, keys, args)));
    return { reply: reply.then((value) => parse(value, script)), settled: this.settled(sent) };
  }

  private async settled(sent: Promise<unknown> | undefined): Promise<void> {
    let settle = () => {};
    const given = new Promise<void>((resolve) => (settle = resolve));
    this.unsettled.add(settle);
    if (sent) sent.then(settle, settle);
    else settle();
    await given;
    this.unsettled.delete(settle);
  }

  async unlink(key: string): Promise<void> {
    await this.write('unlink', () => this.client.unlink(key));
  }

  /** Keys that match a glob pattern, from a walk over all keys of all masters; some of them twice. */
  async *scan(pattern: string): AsyncGenerator<string[]> {
    const { client } = this;
    const prefix = client.options.keyPrefix ?? '';
    for (const node of isCluster(client) ? client.nodes('master') : [client]) {
      for (let cursor = '0'; ;) {
        const [next, keys] = await this.write('scan', () =>
          node.scan(cursor, 'MATCH', prefix + pattern, 'COUNT', KEYS_PER_SCAN),
        );
        if (keys.length > 0) yield keys.map((key) => key.slice(prefix.length));
        cursor = next;
        if (cursor === '0') break;
      }
    }
  }

  async close(): Promise<void> {
    const { client } = this;
    this.closed = true;
    this.master.close();
    this.path.close();
    client.off('close', this.onClose);
    if (isCluster(client)) {
      client.off('+node', this.onNode);
      client.off('-node', this.onClose);
      client.off('refresh', this.onRefresh);
      for (const node of client.nodes()) node.off('close', this.onClose);
    }
    if (!this.owned) return;
    // Not QUIT: it would wait for a server that does not answer. Adds were awaited by their callers.
    client.disconnect();
  }

  /** Without a deadline: that of the lookup is over all its commands. */
  private read<Reply>(key: string, command: () => Promise<Reply>): Promise<Reply> {
    return this.carryOut(command, this.nodes.of(key).reads);
  }

  private write<Reply>(operation: string, command: () => Promise<Reply>): Promise<Reply> {
    return withDeadline(this.carryOut(command), this.timeouts.writeTimeoutMs, operation);
  }

  /** @param reads the commands among which this one counts until it is settled, if any. */
  private async carryOut<Reply>(command: () => Promise<Reply>, reads?: NodeLookups['reads']): Promise<Reply> {
    const { status } = this.client;
    if (reads && reads.waiting >= MAX_READS_WAITING)
      throw new DeadlineError(tooManyLookupsWaiting(MAX_READS_WAITING));
    if (DISCONNECTED.has(status)) throw new BloomUnavailableError(notConnected(status));
    if (reads) reads.waiting++;
    try {
      return await command();
    } catch (error) {
      this.master.failed(error);
      throw error;
    } finally {
      if (reads) reads.waiting--;
    }
  }

  /** A cluster client finds the node of a script by its keys, but not that of a command it does not know. */
  private command(name: string, key: string, args: readonly (string | Buffer)[]): Promise<unknown> {
    const { client } = this;
    if (isCluster(client)) return this.evaluate(ANY_COMMAND, [key], [name, ...args]);
    // Nor does the client know where such a command has its key.
    return client.call(name, (client.options.keyPrefix ?? '') + key, ...args);
  }

  private async evaluate(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    const client = this.client as unknown as ScriptingCommands;
    try {
      return await client.evalshaBuffer(script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return client.evalBuffer(script.source, keys.length, ...keys, ...args);
    }
  }
}

/** Whether the client sends again, on its next connection, what was on its way when the last one ended. */
function sendsAgain(client: Redis | Cluster): boolean {
  const { autoResendUnfulfilledCommands } = isCluster(client)
    ? (client.options.redisOptions ?? {})
    : client.options;
  return autoResendUnfulfilledCommands !== false;
}
