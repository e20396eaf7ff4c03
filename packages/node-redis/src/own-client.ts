import type {
  ExtraConnectionEvents,
  RedisClient,
  RedisClientEvents,
  RedisExtraConnection,
  RedisWord,
} from 'nestjs-bloom/store';
import { Connection, IN_BYTES, inWords, type NodeRedis } from './connection.js';
import { ExtraClient } from './extra-client.js';
import { answeredNothing, CLOSED } from './node-redis.messages.js';

/** Between two looks whether the server answers. */
const LOOK_EVERY_MS = 1000;
/** A connection that is not ready after this time is opened again. */
const READY_WITHIN_MS = 2000;

/** The connection of a store, with the options of a client of node-redis. It connects at first use. */
export class OwnClient implements RedisClient {
  readonly keyPrefix: string;
  disconnected: string | undefined;
  private events!: RedisClientEvents;
  private connection: Connection | undefined;
  /** Settles when the first attempt to connect has succeeded or failed. */
  private first: Promise<void> | undefined;
  private settleFirst: (error?: unknown) => void = () => {};
  private look: NodeJS.Timeout | undefined;
  private hasSent = false;
  /** When it was asked for a sign of life that has not come. */
  private askedAt: number | undefined;
  private readonly silentMs: number;

  constructor(
    private readonly source: NodeRedis,
    writeTimeoutMs: number,
  ) {
    this.keyPrefix = String(source.options?.['keyPrefix'] ?? '');
    this.silentMs = Math.max(2000, writeTimeoutMs) + 1000;
  }

  /** True also before the first command. */
  get isSettled(): boolean {
    return this.disconnected === undefined && (!this.connection || this.connection.client.isReady);
  }

  listen(events: RedisClientEvents): void {
    this.events = events;
  }

  getRange(key: string, from: number, to: number): Promise<Buffer> {
    return this.send(['GETRANGE', this.keyPrefix + key, String(from), String(to)]) as Promise<Buffer>;
  }

  command(name: string, key: string, args: readonly RedisWord[]): Promise<unknown> {
    return this.send([name, this.keyPrefix + key, ...inWords(args)]);
  }

  evalsha(sha1: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.evaluate('EVALSHA', sha1, keys, args);
  }

  eval(source: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown> {
    return this.evaluate('EVAL', source, keys, args);
  }

  masters(): ((...words: RedisWord[]) => Promise<unknown>)[] {
    return [(...words) => this.send(inWords(words))];
  }

  reconnect(): boolean {
    if (!this.connection?.client.isReady) return false;
    this.reopen();
    return true;
  }

  openExtra(events: ExtraConnectionEvents, silentMs?: number): RedisExtraConnection {
    return new ExtraClient(this.source, events, silentMs);
  }

  close(): void {
    this.disconnected = 'end';
    clearInterval(this.look);
    this.connection?.end();
    this.settleFirst(new Error(CLOSED));
  }

  private evaluate(
    name: string,
    script: string,
    keys: readonly string[],
    args: readonly RedisWord[],
  ): Promise<unknown> {
    const { keyPrefix } = this;
    const names = keyPrefix === '' ? keys : keys.map((key) => keyPrefix + key);
    return this.send([name, script, String(keys.length), ...names, ...inWords(args)]);
  }

  private send(words: (string | Buffer)[]): Promise<unknown> {
    this.hasSent = true;
    const client = this.connection?.client;
    return client?.isReady ? client.sendCommand(words, IN_BYTES) : this.sendFirst(words);
  }

  private async sendFirst(words: (string | Buffer)[]): Promise<unknown> {
    if (this.disconnected !== undefined) throw new Error(CLOSED);
    if (!this.connection) this.open();
    await this.first;
    return this.connection!.client.sendCommand(words, IN_BYTES);
  }

  private open(): void {
    this.first ??= new Promise((resolve, reject) => {
      this.settleFirst = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
    this.look ??= setInterval(() => this.lookForLife(), LOOK_EVERY_MS).unref();
    this.askedAt = undefined;
    const connection: Connection = new Connection(
      this.source,
      {
        onReady: () => {
          this.disconnected = undefined;
          this.settleFirst();
        },
        onError: (error) => {
          const { isReady, isOpen } = connection.client;
          this.askedAt = undefined;
          this.disconnected = isOpen ? 'reconnecting' : 'end';
          this.events.onEnded(false);
          this.settleFirst(error);
          this.events.onError(error);
          // A reply that it could not read: which one the next reply is for is not known.
          if (isReady) this.reopen();
        },
      },
      true,
    );
    this.connection = connection;
  }

  private reopen(): void {
    this.disconnected = 'reconnecting';
    this.events.onEnded(false);
    this.connection!.end();
    this.open();
  }

  /** A server that is gone without a word keeps no connection: its address may lead to another one. */
  private lookForLife(): void {
    const { client, connectedAt } = this.connection!;
    const now = performance.now();
    if (!client.isReady) {
      if (connectedAt !== undefined && now - connectedAt > READY_WITHIN_MS) this.giveUp(READY_WITHIN_MS);
      return;
    }
    if (this.askedAt !== undefined) {
      if (now - this.askedAt > this.silentMs) this.giveUp(this.silentMs);
      return;
    }
    if (!this.hasSent) return;
    this.hasSent = false;
    this.askedAt = now;
    const answered = () => {
      if (this.askedAt === now) this.askedAt = undefined;
    };
    client.sendCommand(['PING'], IN_BYTES).then(answered, answered);
  }

  private giveUp(ms: number): void {
    const error = new Error(answeredNothing(ms));
    this.settleFirst(error);
    this.reopen();
    this.events.onError(error);
  }
}
