import { type BloomEventListener, jittered, pause } from '../../../common/index.js';
import type { RedisClient, RedisExtraConnection } from '../../index.js';

/** A change of the streams takes effect after this time at the latest. */
const BLOCK_MS = 200;
const ENTRIES_AT_ONCE = 64;
/** Pause after a failure. */
const AFTER_FAILURE_MS = 250;
/** A connection on which nothing comes, not even that there is nothing, is opened again. */
const SILENT_MS = 3000;

/** An entry of a stream: its id, and its fields and values in turn. */
export interface StreamEntry {
  readonly id: string;
  readonly fields: readonly Buffer[];
}

export interface ReadStream {
  readonly key: string;
  /** Entries after this id are read. */
  after: string;
  onEntries(entries: readonly StreamEntry[]): void;
}

type Reply = readonly (readonly [Buffer, readonly (readonly [Buffer, readonly Buffer[]])[]])[] | null;

/**
 * Reads streams as their entries come, on a connection of its own, since it blocks. There is none before the
 * first stream. What fails is tried again from the last entry that was read.
 */
export class StreamReader {
  private readonly streams = new Map<string, ReadStream>();
  private reader: RedisExtraConnection | undefined;
  private isRunning = false;
  private isClosed = false;
  /** Reported once until it works again. */
  private hasFailed = false;

  constructor(
    private readonly client: RedisClient,
    private readonly emit: BloomEventListener,
    /** Names the server that the other connection leads to: with another name, this one is opened again. */
    private readonly serverOf: () => string,
  ) {}

  /** Reads a stream until it is stopped; another one of the same key ends. */
  read(key: string, after: string, onEntries: ReadStream['onEntries']): ReadStream {
    const stream: ReadStream = { key, after, onEntries };
    this.streams.set(key, stream);
    if (!this.isRunning && !this.isClosed) void this.run();
    return stream;
  }

  stop(stream: ReadStream): void {
    if (this.streams.get(stream.key) === stream) this.streams.delete(stream.key);
  }

  close(): void {
    this.isClosed = true;
    this.streams.clear();
    this.reader?.close();
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    let server = this.serverOf();
    while (!this.isClosed && this.streams.size > 0) {
      try {
        if (server !== this.serverOf()) {
          server = this.serverOf();
          this.hangUp();
        }
        await this.turn();
        this.hasFailed = false;
      } catch (error) {
        if (this.isClosed) break;
        if (!this.hasFailed) this.emit({ type: 'connection-error', error });
        this.hasFailed = true;
        await pause(jittered(AFTER_FAILURE_MS));
      }
    }
    this.isRunning = false;
    this.hangUp();
  }

  private async turn(): Promise<void> {
    const asked = [...this.streams.values()];
    const reader = (this.reader ??= this.connect());
    const prefix = this.client.keyPrefix;
    const reply = (await reader.call(
      ...(['XREAD', 'COUNT', ENTRIES_AT_ONCE, 'BLOCK', BLOCK_MS, 'STREAMS'] as const),
      ...asked.map(({ key }) => prefix + key),
      ...asked.map(({ after }) => after),
    )) as Reply;
    for (const [key, entries] of reply ?? []) {
      const stream = asked.find((one) => prefix + one.key === String(key));
      // Stopped meanwhile.
      if (!stream || this.streams.get(stream.key) !== stream) continue;
      const read = entries.map(([id, fields]) => ({ id: String(id), fields }));
      stream.after = read.at(-1)!.id;
      stream.onEntries(read);
    }
  }

  private connect(): RedisExtraConnection {
    const onEnded = () => {
      if (this.reader === reader) this.reader = undefined;
    };
    const reader = this.client.openExtra!({ onError() {}, onEnded }, SILENT_MS);
    return reader;
  }

  private hangUp(): void {
    this.reader?.close();
    this.reader = undefined;
  }
}
