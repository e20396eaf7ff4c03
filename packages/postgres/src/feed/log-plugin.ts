import { type Pgoutput, PgoutputPlugin } from 'pg-logical-replication';
import type { Client } from 'pg';

/** A message of the log that could not be read. */
export interface BrokenMessage {
  readonly tag: 'broken';
  readonly error: unknown;
}

export type LogMessage = Pgoutput.Message | BrokenMessage;

/**
 * Reads the log, with values as the texts that Postgres writes: what a driver makes of them depends on the
 * settings of the application.
 */
export class LogPlugin extends PgoutputPlugin {
  /** Messages that have been received. */
  received = 0;

  constructor(publication: string) {
    super({ protoVersion: 1, publicationNames: [publication] });
  }

  /** Sets what the text of an id depends on, whatever the defaults of server, database and user are. */
  override async start(client: Client, slot: string, lsn: string): Promise<unknown> {
    await client.query(`set bytea_output = 'hex'`);
    return super.start(client, slot, lsn);
  }

  /** Must not throw: nobody would catch it. */
  override parse(buffer: Buffer): Pgoutput.Message {
    this.received++;
    try {
      const message = super.parse(buffer);
      if (message.tag === 'relation') for (const column of message.columns) column.parser = asWritten;
      return message;
    } catch (error) {
      return { tag: 'broken', error } as unknown as Pgoutput.Message;
    }
  }
}

function asWritten(text: string): string {
  return text;
}
