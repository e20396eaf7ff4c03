import { type Pgoutput, PgoutputPlugin } from 'pg-logical-replication';

/** A message of the log that could not be read. */
export interface BrokenMessage {
  readonly tag: 'broken';
  readonly error: unknown;
}

export type LogMessage = Pgoutput.Message | BrokenMessage;

const BYTEA = 17;

/** Reads the log, with values as the texts that Postgres writes: what a driver makes of them depends on the settings of the application. */
export class LogPlugin extends PgoutputPlugin {
  /** Messages that have been received. */
  received = 0;

  constructor(publication: string) {
    super({ protoVersion: 1, publicationNames: [publication] });
  }

  /** Must not throw: nobody would catch it. */
  override parse(buffer: Buffer): Pgoutput.Message {
    this.received++;
    try {
      const message = super.parse(buffer);
      if (message.tag === 'relation')
        for (const column of message.columns) column.parser = column.typeOid === BYTEA ? bytesOf : textOf;
      return message;
    } catch (error) {
      return { tag: 'broken', error } as unknown as Pgoutput.Message;
    }
  }
}

function textOf(text: string): string {
  return text;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
