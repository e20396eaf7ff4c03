import { type BloomEventListener, BloomUnavailableError } from '../../../common/index.js';
import type { RedisClient, RedisWord } from '../../index.js';
import { notConnected, tooManyLookupsWaiting } from './client.messages.js';
import { DeadlineError, withDeadline } from './deadline.js';
import { LookupsByNode, type NodeLookups } from './lookups-by-node.js';
import { MasterSearch } from './master-search.js';
import { evaluate, type Script } from './script.js';
import { ServerPath } from './server-path.js';
import { ServerRuns } from './server-path.js';

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

/** A client drops a lookup at once when this many wait for a server that does not answer. */
const MAX_READS_WAITING = 1000;
/** Keys that one step of a walk looks at: it holds the server for less than a millisecond. */
const KEYS_PER_SCAN = 1000;

/** A client with deadlines, scripts by their digest, and the name of the server that answers. */
export class RedisConnection {
  private closed = false;
  readonly nodes: LookupsByNode;
  private readonly unsettled = new Set<() => void>();
  /** Where the connection leads when its server is no master. */
  readonly master: MasterSearch;
  /** What there is between the connection and its server. */
  readonly path: ServerPath;
  /** Which run of a server answers. */
  readonly runs = new ServerRuns();

  constructor(
    private readonly client: RedisClient,
    private readonly timeouts: RedisTimeouts,
    emit: BloomEventListener,
  ) {
    this.nodes = new LookupsByNode(client, { emit, timeoutMs: timeouts.timeoutMs });
    this.master = new MasterSearch(client, emit);
    this.path = new ServerPath(client);
    client.listen({
      onEnded: (isSilent) => {
        this.nodes.beginEpoch();
        if (!isSilent) return;
        this.nodes.forgetWaiting();
        for (const settle of this.unsettled) settle();
      },
      onSlots: () => this.nodes.dropUnused(),
      onError: (error) => emit({ type: 'connection-error', error }),
    });
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
    const command: () => Promise<Buffer> = this.client.getRange.bind(this.client, key, from, to);
    return this.carryOut(command, this.nodes.of(key).reads);
  }

  /** The same, for what no lookup waits for. */
  getPiece(key: string, from: number, to: number): Promise<Buffer> {
    return this.write('getrange', () => this.client.getRange(key, from, to));
  }

  /** Runs any command of one key that a lookup waits for. */
  commandRead(name: string, key: string, args: readonly RedisWord[]): Promise<unknown> {
    return this.read(key, () => this.client.command(name, key, args));
  }

  /** The same, for what no lookup waits for. */
  commandWrite(name: string, key: string, args: readonly RedisWord[]): Promise<unknown> {
    return this.write(name, () => this.client.command(name, key, args));
  }

  /** Runs a script that a lookup waits for. */
  runRead(script: Script, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.read(keys[0]!, () => evaluate(this.client, script, keys, args));
  }

  /** Runs a script of an add or of a rebuild. */
  run(script: Script, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.write(script.name, () => evaluate(this.client, script, keys, args));
  }

  /** The same, for a script that matters also when its caller has given it up. */
  send<Reply>(
    script: Script,
    keys: readonly string[],
    args: readonly RedisWord[],
    parse: (reply: unknown, script: Script) => Reply,
  ): SentScript<Reply> {
    let sent: Promise<unknown> | undefined;
    const reply = this.write(script.name, () => (sent = evaluate(this.client, script, keys, args)));
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

  /** What the client puts before each key. */
  get keyPrefix(): string {
    return this.client.keyPrefix;
  }

  async unlink(key: string): Promise<void> {
    await this.commandWrite('unlink', key, []);
  }

  /** Keys that match a glob pattern, from a walk over all keys of all masters; some of them twice. */
  async *scan(pattern: string): AsyncGenerator<string[]> {
    const prefix = this.client.keyPrefix;
    for (const call of this.client.masters()) {
      for (let cursor = '0'; ;) {
        const scanned = () => call('SCAN', cursor, 'MATCH', prefix + pattern, 'COUNT', KEYS_PER_SCAN);
        const [next, keys] = (await this.write('scan', scanned)) as [unknown, unknown[]];
        if (keys.length > 0) yield keys.map((key) => String(key).slice(prefix.length));
        cursor = String(next);
        if (cursor === '0') break;
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.client.close();
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
    if (reads && reads.waiting >= MAX_READS_WAITING)
      throw new DeadlineError(tooManyLookupsWaiting(MAX_READS_WAITING));
    const { disconnected } = this.client;
    if (disconnected !== undefined) throw new BloomUnavailableError(notConnected(disconnected));
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
}
