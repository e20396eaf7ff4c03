import type { Redis } from 'ioredis';
import type { BloomEventListener } from '../../../common/index.js';
import { isRefusal } from './refused-command.js';

/** Pauses between two connections, growing while they fail. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;

export interface ChannelListener {
  onMessage(message: Buffer): void;
  /** From now on each message is received, as long as the connection is there; `runId` is that of the server, '' when it may not be asked. */
  onHeard(runId: string): void;
  /** Messages are missing from here on. */
  onLost(): void;
  /** The server refuses the subscription to this user, or knows no such command. */
  onRefused(error: string): void;
}

/**
 * Subscribes to channels on a connection of its own, since such a connection may do nothing else. There is none before the first channel. Messages may be lost at any time:
 * whoever listens has another way to find out.
 */
export class ChannelReader {
  private readonly listeners = new Map<string, ChannelListener>();
  private reader: Redis | undefined;
  private runId: Promise<string> = Promise.resolve('');
  /** The connection whose errors are reported: also one that has ended, whose commands fail after that, but none that was closed here. */
  private reported: Redis | undefined;
  /** The server to which the connection leads. */
  private server = '';
  private pauseMs = 0;
  private openAt = -Infinity;
  private isClosed = false;
  /** Reported once until it works again. */
  private hasFailed = false;

  constructor(
    private readonly client: Redis,
    private readonly emit: BloomEventListener,
    /** Names the server that the other connection leads to: with another name, this one is opened again. */
    private readonly serverOf: () => string,
  ) {}

  /** Listens to the channel that has the name of a key; who listened to it before does no longer. */
  listen(key: string, listener: ChannelListener): void {
    const channel = this.channelOf(key);
    this.listeners.set(channel, listener);
    if (this.reader) void this.subscribe(this.reader, channel, listener);
    else this.keep();
  }

  stop(key: string, listener: ChannelListener): void {
    const channel = this.channelOf(key);
    if (this.listeners.get(channel) !== listener) return;
    this.listeners.delete(channel);
    if (this.listeners.size === 0) this.hangUp();
    else if (this.reader) void this.unsubscribe(this.reader, channel);
  }

  /** Opens a connection that has ended, or that leads to another server than the other one does. To be called now and then. */
  keep(): void {
    if (this.isClosed || this.listeners.size === 0) return;
    const server = this.serverOf();
    if (this.reader && server !== this.server) this.hangUp();
    if (this.reader || performance.now() < this.openAt) return;
    this.server = server;
    this.open();
  }

  /** Gives a connection up on which nothing comes; there is another one after a while. */
  distrust(): void {
    this.hangUp();
    this.openAt = performance.now() + LONGEST_PAUSE_MS;
  }

  close(): void {
    this.isClosed = true;
    this.listeners.clear();
    this.hangUp();
  }

  private open(): void {
    this.pauseMs = Math.min(Math.max(2 * this.pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    this.openAt = performance.now() + this.pauseMs;
    // This client never connects again automatically: messages that are published meanwhile are lost, and the listeners have to know that.
    const reader = this.client.duplicate({
      lazyConnect: true,
      retryStrategy: () => null,
      autoResubscribe: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      socketTimeout: undefined,
    });
    reader.on('error', (error: unknown) => this.failed(reader, error));
    reader.on('close', () => this.ended(reader));
    reader.on('end', () => this.ended(reader));
    reader.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      if (this.reader === reader) this.listeners.get(String(channel))?.onMessage(message);
    });
    this.reader = this.reported = reader;
    // Asked first: a connection that is subscribed may send nothing else.
    this.runId = runIdOf(reader);
    for (const [channel, listener] of this.listeners) void this.subscribe(reader, channel, listener);
  }

  private async subscribe(reader: Redis, channel: string, listener: ChannelListener): Promise<void> {
    const isPresent = () => this.reader === reader && this.listeners.get(channel) === listener;
    try {
      const { runId } = this;
      await reader.subscribe(channel);
      const run = await runId;
      if (!isPresent()) return;
      this.pauseMs = 0;
      this.hasFailed = false;
      listener.onHeard(run);
    } catch (error) {
      const isRefused = isRefusal(String(error));
      if (!isRefused) this.failed(reader, error);
      if (!isPresent()) return;
      if (isRefused) listener.onRefused(String(error));
      else this.ended(reader);
    }
  }

  private async unsubscribe(reader: Redis, channel: string): Promise<void> {
    try {
      await reader.unsubscribe(channel);
    } catch (error) {
      if (!isRefusal(String(error))) this.failed(reader, error);
    }
  }

  private failed(reader: Redis, error: unknown): void {
    if (this.reported !== reader) return;
    if (!this.hasFailed) this.emit({ type: 'connection-error', error });
    this.hasFailed = true;
  }

  private ended(reader: Redis): void {
    if (this.reader === reader) this.leave();
  }

  private hangUp(): void {
    this.reported = undefined;
    this.leave();
  }

  private leave(): void {
    const { reader } = this;
    this.reader = undefined;
    if (!reader) return;
    // To disconnect a client that has ended would start a timer that keeps the process.
    if (reader.status !== 'end') reader.disconnect();
    for (const listener of this.listeners.values()) listener.onLost();
  }

  private channelOf(key: string): string {
    return (this.client.options.keyPrefix ?? '') + key;
  }
}

/** '' when the server does not say so: whoever needs it does without. */
async function runIdOf(client: Redis): Promise<string> {
  const info = await client.info('server').catch(() => '');
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? '';
}
