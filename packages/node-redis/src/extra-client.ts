import type { ExtraConnectionEvents, RedisExtraConnection, RedisWord } from 'nestjs-bloom/store';
import {
  Connection,
  IN_BYTES,
  inWords,
  type MessageListener,
  type NodeRedis,
  type Place,
} from './connection.js';
import { answeredNothing, CLOSED } from './node-redis.messages.js';

/** A connection that connects once. */
export class ExtraClient implements RedisExtraConnection {
  private readonly connection: Connection;
  private readonly opened: Promise<NodeRedis>;
  private readonly channels = new Map<string, (message: Buffer) => void>();
  private settle!: { resolve(client: NodeRedis): void; reject(error: unknown): void };

  constructor(
    place: Place,
    private readonly events: ExtraConnectionEvents,
    private readonly silentMs?: number,
  ) {
    this.opened = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
    const { resolve, reject } = this.settle;
    const onError = (error: unknown) => {
      reject(error);
      events.onError(error);
      events.onEnded();
    };
    this.connection = new Connection(place, { onReady: resolve, onError }, false);
    // A call that waits for it rejects with the error.
    this.opened.catch(() => {});
  }

  async call(...words: RedisWord[]): Promise<unknown> {
    const { silentMs } = this;
    const timer = silentMs === undefined ? undefined : setTimeout(() => this.giveUp(silentMs), silentMs);
    try {
      const client = await this.opened;
      return await client.sendCommand(inWords(words), IN_BYTES);
    } finally {
      clearTimeout(timer);
    }
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    this.channels.set(channel, onMessage);
    const client = await this.opened;
    await client.subscribe(channel, this.onMessage, true);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.channels.delete(channel);
    const client = await this.opened;
    await client.unsubscribe(channel);
  }

  close(): void {
    this.connection.end();
    this.settle.reject(new Error(CLOSED));
  }

  /** One listener for all: the client would call each that it was given. */
  private readonly onMessage: MessageListener = (message, channel) =>
    this.channels.get(String(channel))?.(message);

  private giveUp(ms: number): void {
    this.close();
    this.events.onError(new Error(answeredNothing(ms)));
    this.events.onEnded();
  }
}
