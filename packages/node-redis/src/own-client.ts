import type {
  ExtraConnectionEvents,
  RedisClient,
  RedisClientEvents,
  RedisExtraConnection,
  RedisWord,
} from 'nestjs-bloom/store';
import { Connection, IN_BYTES, inWords, type NodeRedis, type Place, type Word } from './connection.js';
import { ExtraClient } from './extra-client.js';
import { KeyedClient } from './keyed-client.js';
import { answeredNothing, CLOSED } from './node-redis.messages.js';

/** Between two looks whether the server answers. */
const LOOK_EVERY_MS = 1000;
/** A connection that is not ready after this time is opened again. */
const READY_WITHIN_MS = 2000;

/** The connection of a store to one server. It connects at first use. */
export class OwnClient extends KeyedClient implements RedisClient {
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
    private readonly place: Place,
    keyPrefix: unknown,
    writeTimeoutMs: number,
  ) {
    super(String(keyPrefix ?? ''));
    this.silentMs = Math.max(2000, writeTimeoutMs) + 1000;
  }

  /** True also before the first command. */
  get isSettled(): boolean {
    return this.disconnected === undefined && (!this.connection || this.ready !== undefined);
  }

  /** The client of its connection, if that is there. */
  get ready(): NodeRedis | undefined {
    const client = this.connection?.client;
    return client?.isReady ? client : undefined;
  }

  listen(events: RedisClientEvents): void {
    this.events = events;
  }

  send(words: Word[]): Promise<unknown> {
    this.hasSent = true;
    const client = this.connection?.client;
    return client?.isReady ? client.sendCommand(words, IN_BYTES) : this.sendFirst(words);
  }

  masters(): ((...words: RedisWord[]) => Promise<unknown>)[] {
    return [(...words) => this.send(inWords(words))];
  }

  reconnect(): boolean {
    if (!this.ready) return false;
    this.reopen();
    return true;
  }

  openExtra(events: ExtraConnectionEvents, silentMs?: number): RedisExtraConnection {
    return new ExtraClient(this.place, events, silentMs);
  }

  close(): void {
    this.disconnected = 'end';
    clearInterval(this.look);
    this.connection?.end();
    this.settleFirst(new Error(CLOSED));
  }

  private async sendFirst(words: Word[]): Promise<unknown> {
    if (this.disconnected !== undefined) throw new Error(CLOSED);
    if (!this.connection) this.open();
    await this.first;
    const client = this.connection!.client;
    if (!client) throw new Error(CLOSED);
    return client.sendCommand(words, IN_BYTES);
  }

  private open(): void {
    this.first ??= new Promise((resolve, reject) => {
      this.settleFirst = (error) => (error === undefined ? resolve() : reject(error as Error));
    });
    this.look ??= setInterval(() => this.lookForLife(), LOOK_EVERY_MS).unref();
    this.askedAt = undefined;
    const connection: Connection = new Connection(
      this.place,
      {
        onReady: () => {
          this.disconnected = undefined;
          this.settleFirst();
        },
        onError: (error) => {
          this.askedAt = undefined;
          this.disconnected = connection.isOver ? 'end' : 'reconnecting';
          this.events.onEnded(false);
          this.settleFirst(error);
          this.events.onError(error);
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
    const { ready } = this;
    const { connectedAt } = this.connection!;
    const now = performance.now();
    if (!ready) {
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
    ready.sendCommand(['PING'], IN_BYTES).then(answered, answered);
  }

  private giveUp(ms: number): void {
    const error = new Error(answeredNothing(ms));
    this.settleFirst(error);
    this.reopen();
    this.events.onError(error);
  }
}
