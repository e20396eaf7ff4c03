import type { BloomEventListener } from '../../../common/index.js';
import type { RedisClient, RedisExtraConnection } from '../../index.js';
import { isRefusal } from './server-replies.js';
import { ExtraConnection } from './extra-connection.js';

export interface ChannelListener {
  onMessage(message: Buffer): void;
  /** Messages are received from now on. `runId` is that of the server, '' when it may not be asked. */
  onHeard(runId: string): void;
  /** Messages are missing from here on. */
  onLost(): void;
  /** The server refuses the subscription to this user, or knows no such command. */
  onRefused(error: string): void;
}

/**
 * Subscribes to channels on a connection of its own, since such a connection may do nothing else. There is
 * none before the first channel. Messages may be lost at any time: whoever listens has another way to find
 * out.
 */
export class ChannelReader {
  private readonly listeners = new Map<string, ChannelListener>();
  private readonly side: ExtraConnection;
  private runId: Promise<string> = Promise.resolve('');

  constructor(
    private readonly client: RedisClient,
    emit: BloomEventListener,
    serverOf: () => string,
  ) {
    this.side = new ExtraConnection({
      purpose: 'subscribe',
      client,
      open: (events) => client.openExtra!(events),
      emit,
      serverOf,
      onOpened: (reader) => this.begin(reader),
      onEnded: () => {
        for (const listener of this.listeners.values()) listener.onLost();
      },
    });
  }

  /** Listens to the channel that has the name of a key; who listened to it before does no longer. */
  listen(key: string, listener: ChannelListener): void {
    const channel = this.channelOf(key);
    this.listeners.set(channel, listener);
    const { present } = this.side;
    if (present) void this.subscribe(present, channel, listener);
    else this.keep();
  }

  stop(key: string, listener: ChannelListener): void {
    const channel = this.channelOf(key);
    if (this.listeners.get(channel) !== listener) return;
    this.listeners.delete(channel);
    const { present } = this.side;
    if (this.listeners.size === 0) this.side.hangUp();
    else if (present) void this.unsubscribe(present, channel);
  }

  /** Opens a connection that has ended, or leads to another server than the main one. Called now and then. */
  keep(): void {
    if (this.listeners.size > 0) this.side.keep();
  }

  /** Gives a connection up on which nothing comes; there is another one after a while. */
  distrust(): void {
    this.side.distrust();
  }

  close(): void {
    this.listeners.clear();
    this.side.close();
  }

  private begin(reader: RedisExtraConnection): void {
    // Asked first: a connection that is subscribed may send nothing else.
    this.runId = runIdOf(reader);
    for (const [channel, listener] of this.listeners) void this.subscribe(reader, channel, listener);
  }

  private async subscribe(
    reader: RedisExtraConnection,
    channel: string,
    listener: ChannelListener,
  ): Promise<void> {
    const { side } = this;
    const isPresent = () => side.present === reader && this.listeners.get(channel) === listener;
    try {
      const { runId } = this;
      await reader.subscribe(channel, (message) => {
        if (side.present === reader) this.listeners.get(channel)?.onMessage(message);
      });
      const run = await runId;
      if (!isPresent()) return;
      side.worked();
      listener.onHeard(run);
    } catch (error) {
      const isRefused = isRefusal(String(error));
      if (!isRefused) side.failed(reader, error);
      if (!isPresent()) return;
      if (isRefused) {
        side.worked();
        listener.onRefused(String(error));
      } else side.ended(reader);
    }
  }

  private async unsubscribe(reader: RedisExtraConnection, channel: string): Promise<void> {
    try {
      await reader.unsubscribe(channel);
    } catch (error) {
      if (!isRefusal(String(error))) this.side.failed(reader, error);
    }
  }

  private channelOf(key: string): string {
    return this.client.keyPrefix + key;
  }
}

/** '' when the server does not say so: whoever needs it does without. */
async function runIdOf(connection: RedisExtraConnection): Promise<string> {
  const info = String(await connection.call('INFO', 'server').catch(() => ''));
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? '';
}
