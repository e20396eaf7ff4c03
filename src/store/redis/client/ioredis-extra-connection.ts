import type { Redis } from 'ioredis';
import type { ExtraConnectionEvents, RedisSilentConnection, RedisWord } from '../../index.js';

/** Between two signs of life of an idle connection, which a proxy or firewall would forget otherwise. */
const KEEP_ALIVE_MS = 10_000;

/** A duplicate of a client, which connects once. */
export class IoredisExtraConnection implements RedisSilentConnection {
  readonly client: Redis;
  private readonly channels = new Map<string, (message: Buffer) => void>();

  constructor(main: Redis, events: ExtraConnectionEvents, silentMs?: number) {
    this.client = main.duplicate({
      keyPrefix: '',
      lazyConnect: true,
      retryStrategy: () => null,
      autoResubscribe: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: null,
      commandTimeout: undefined,
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      socketTimeout: silentMs,
      keepAlive: KEEP_ALIVE_MS,
    });
    this.client.on('messageBuffer', (channel: Buffer, message: Buffer) =>
      this.channels.get(String(channel))?.(message),
    );
    this.client.on('error', events.onError);
    this.client.on('close', events.onEnded);
    this.client.on('end', events.onEnded);
  }

  call(...[name, ...args]: RedisWord[]): Promise<unknown> {
    // The client knows by names in lower case how to read replies.
    return this.client.callBuffer(String(name).toLowerCase(), ...args);
  }

  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<unknown> {
    this.channels.set(channel, onMessage);
    return this.client.subscribe(channel);
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.client.unsubscribe(channel);
  }

  silence(onReply: (reply: string) => void): (words: readonly RedisWord[]) => boolean {
    const { stream } = this.client;
    stream.write(inBytes(['CLIENT', 'REPLY', 'OFF']));
    // Heard before the client hears it, which takes a reply that it did not expect for a fault of its own.
    stream.prependListener('data', (reply: Buffer) => onReply(String(reply)));
    return (words) => {
      if (!stream.writable || stream.writableNeedDrain) return false;
      stream.write(inBytes(words));
      return true;
    };
  }

  close(): void {
    // To disconnect a client that has ended would start a timer that keeps the process.
    if (this.client.status !== 'end') this.client.disconnect();
  }
}

/** A command as the server reads it. */
function inBytes(words: readonly RedisWord[]): string {
  let bytes = `*${words.length}\r\n`;
  for (const word of words) {
    const text = String(word);
    bytes += `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
  }
  return bytes;
}
