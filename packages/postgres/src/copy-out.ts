import type { PackedIds } from 'nestjs-bloom/sources';
import type { ColumnKind } from './column-kind.js';
import { PackedWriter } from './packed-writer.js';
import type { PostgresConnection, PostgresSubmittable } from './postgres-pool.js';
import { ENDED_EARLY, NOT_BINARY_COPY, NOT_PG, rowsMissing } from './postgres.messages.js';
import { TupleReader } from './tuple-reader.js';

type DataListener = (data: Uint8Array) => void;

const COPY_DATA = 'd'.charCodeAt(0);
/** Code and length. */
const HEAD_BYTES = 5;
/** Batches that wait before the connection is read no further. */
const MOST_READY = 2;
const NOTHING = Buffer.alloc(0);

/**
 * A query `COPY … TO STDOUT (FORMAT binary)` of one column. It takes the rows out of the messages of the
 * server itself, since a message stands for each row; all other messages are for `pg`. It is complete when
 * the trailer of the format, and the number of rows that the server names, have been seen.
 */
export class CopyOut implements PostgresSubmittable {
  /** Set by a client that has a time limit for queries. */
  callback?: (error: unknown) => void;

  private readonly writer: PackedWriter;
  private readonly rows: TupleReader;
  private readonly ready: PackedIds[] = [];
  private connection: PostgresConnection | undefined;
  private listeners: DataListener[] = [];
  private rest: Buffer = NOTHING;
  private isOver = false;
  private failure: { readonly error: unknown } | undefined;
  private saidRows: number | undefined;
  private wake: (() => void) | undefined;
  /** The batch that whoever asked last is reading. */
  private given: PackedIds | undefined;
  private readonly onData = (data: Buffer) => this.takeData(data);

  constructor(
    private readonly text: string,
    kind: ColumnKind,
  ) {
    this.writer = new PackedWriter(kind !== 'bytes');
    this.rows = new TupleReader(kind, this.writer);
  }

  /**
   * The next ids, in memory that is used again after the next call; undefined at the end. The connection is
   * read no further while ids wait.
   */
  async next(): Promise<PackedIds | undefined> {
    if (this.given) this.writer.giveBack(this.given);
    this.given = await this.following();
    return this.given;
  }

  private async following(): Promise<PackedIds | undefined> {
    for (;;) {
      if (this.failure) throw this.failure.error;
      const batch = this.ready.shift();
      if (batch) {
        if (this.ready.length < MOST_READY) this.connection?.stream.resume();
        return batch;
      }
      if (this.isOver) {
        if (this.writer.isEmpty) return undefined;
        return this.writer.take();
      }
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Ends it for whoever waits for the next ids. */
  fail(error: unknown): void {
    this.end({ error });
  }

  submit(connection: PostgresConnection): void {
    const { stream } = connection;
    this.connection = connection;
    this.listeners = stream.listeners('data') as DataListener[];
    for (const listener of this.listeners) stream.removeListener('data', listener);
    stream.on('data', this.onData);
    connection.query(this.text);
  }

  handleCommandComplete(message: { readonly text?: string }): void {
    const said = /^COPY (\d+)$/.exec(message.text ?? '')?.[1];
    this.saidRows = said === undefined ? undefined : Number(said);
  }

  handleReadyForQuery(): void {
    this.end(this.incompleteness());
  }

  handleError(error: unknown): void {
    this.end({ error });
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(): void {}

  private takeData(data: Buffer): void {
    let at = 0;
    try {
      at = this.takeRest(data);
      if (this.rest.length === 0) at = this.takeMessages(data, at);
    } catch (error) {
      this.end({ error });
      // What is left belongs to nobody: the connection is ended.
      return;
    }
    const left = data.subarray(at);
    this.rest = this.rest.length > 0 ? Buffer.concat([this.rest, left]) : left;
    if (this.isOver) return this.handBack();
    if (!this.writer.isFull) return;
    this.ready.push(this.writer.take());
    if (this.ready.length >= MOST_READY) this.connection!.stream.pause();
    this.wakeReader();
  }

  /**
   * Takes the message that began in earlier data; returns where the next one begins. Only this message is put
   * together: to join all that has come would copy it.
   */
  private takeRest(data: Buffer): number {
    let at = 0;
    while (this.rest.length > 0 && at < data.length && !this.isOver) {
      const { rest } = this;
      const length = rest.length < HEAD_BYTES ? HEAD_BYTES : 1 + rest.readUInt32BE(1);
      const taken = data.subarray(at, at + Math.max(1, length - rest.length));
      this.rest = Buffer.concat([rest, taken]);
      at += taken.length;
      if (this.takeMessages(this.rest, 0) > 0) this.rest = NOTHING;
    }
    return at;
  }

  /** Where the first message begins that is not whole, or that is no longer for this query. */
  private takeMessages(all: Buffer, from: number): number {
    const { length } = all;
    let at = from;
    this.rows.begin(all);
    while (at + HEAD_BYTES <= length && !this.isOver) {
      at = this.rows.takePlain(at);
      if (at + HEAD_BYTES > length) break;
      const end = at + 1 + all.readUInt32BE(at + 1);
      if (end > length) break;
      if (end < at + HEAD_BYTES) throw new Error(NOT_BINARY_COPY);
      if (all[at] === COPY_DATA) this.rows.take(all, at + HEAD_BYTES, end);
      else this.pass(all.subarray(at, end));
      at = end;
    }
    return at;
  }

  private pass(data: Buffer): void {
    for (const listener of this.listeners) listener(data);
  }

  private incompleteness(): { readonly error: Error } | undefined {
    const { rows, isComplete } = this.rows;
    if (!isComplete) return { error: new Error(ENDED_EARLY) };
    if (this.saidRows !== undefined && this.saidRows !== rows)
      return { error: new Error(rowsMissing(rows, this.saidRows)) };
    return undefined;
  }

  private end(failure: { readonly error: unknown } | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.failure = failure;
    this.callback?.(failure?.error ?? null);
    this.wakeReader();
  }

  /** Gives the connection back to `pg`, with what has come after the last message of this query. */
  private handBack(): void {
    const { stream } = this.connection!;
    stream.removeListener('data', this.onData);
    for (const listener of this.listeners) stream.on('data', listener);
    if (this.rest.length > 0) this.pass(this.rest);
    this.rest = NOTHING;
    stream.resume();
  }

  private wakeReader(): void {
    this.wake?.();
    this.wake = undefined;
  }
}

/** @throws {TypeError} for clients that are not those of `pg`. */
export function assertReadable(client: unknown): void {
  const { connection } = client as { connection?: Partial<PostgresConnection> };
  if (typeof connection?.stream?.on !== 'function') throw new TypeError(NOT_PG);
}
