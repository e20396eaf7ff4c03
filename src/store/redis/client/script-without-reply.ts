import type { Redis } from 'ioredis';
import { type BloomEventListener, describeError } from '../../../common/index.js';
import { lostOnSilentConnection } from './client.messages.js';
import type { Script } from './script.js';
import { ExtraConnection } from './extra-connection.js';

/**
 * Sends one script again and again on a connection whose server does not reply. A reply costs the server a
 * write, and this process a turn of its event loop, a promise and its settling: more than the script itself.
 * Whether the script was carried out has to show elsewhere. Running it twice must do no harm.
 */
export class ScriptWithoutReply {
  private readonly side: ExtraConnection;
  /** Called when a silent connection has ended: what was sent last may not have arrived. */
  private readonly users = new Set<() => void>();
  /** The server has been told to be silent. */
  private isSilent = false;
  private refused: string | undefined;

  constructor(
    private readonly client: Redis,
    private readonly script: Script,
    private readonly emit: BloomEventListener,
    serverOf: () => string,
  ) {
    this.side = new ExtraConnection({
      purpose: 'CLIENT REPLY',
      client,
      emit,
      serverOf,
      onOpened: () => {},
      onEnded: () => this.ended(),
    });
  }

  /** Why the server replies all the same; undefined while that is not known. */
  get refusal(): string | undefined {
    return this.refused;
  }

  /** There is a connection only while somebody uses it. */
  use(onLost: () => void): void {
    this.users.add(onLost);
  }

  stop(onLost: () => void): void {
    this.users.delete(onLost);
    if (this.users.size === 0) this.side.hangUp();
  }

  /** Sends the script, unless there is no such connection yet, or it is busy; whether it was sent. */
  send(keys: readonly string[], args: readonly (string | number)[]): boolean {
    const { side, client } = this;
    const before = side.present;
    side.keep();
    const { present } = side;
    if (present && present !== before) void this.silence(present, keys, args);
    if (!present || !this.isSilent) return false;
    const { stream } = present;
    if (!stream.writable || stream.writableNeedDrain) return false;
    const prefix = client.options.keyPrefix ?? '';
    const named = prefix === '' ? keys : keys.map((key) => prefix + key);
    stream.write(inBytes(['EVALSHA', this.script.sha1, keys.length, ...named, ...args]));
    return true;
  }

  /** What was sent a while ago has not arrived: replies say why until another connection is opened. */
  missed(): void {
    if (!this.isSilent) return;
    this.emit({ type: 'connection-error', error: new Error(lostOnSilentConnection(this.script.name)) });
    this.side.distrust();
  }

  close(): void {
    this.users.clear();
    this.side.close();
  }

  private ended(): void {
    if (!this.isSilent) return;
    this.isSilent = false;
    for (const onLost of this.users) onLost();
  }

  private async silence(
    connection: Redis,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<void> {
    const { side, script } = this;
    const isPresent = () => side.present === connection;
    try {
      // Changes nothing, and is refused where silence is.
      await connection.call('CLIENT', 'REPLY', 'ON').catch((error: unknown) => {
        if (isReply(error)) this.refused = describeError(error);
        throw error;
      });
      // From Redis 7.4 on a server forgets scripts known by EVAL alone. A user who may not load does without.
      await connection.script('LOAD', script.source).catch((error: unknown) => {
        if (!isReply(error)) throw error;
      });
      await connection.eval(script.source, keys.length, ...keys, ...args);
      if (!isPresent()) return;
      const { stream } = connection;
      stream.write(inBytes(['CLIENT', 'REPLY', 'OFF']));
      // Heard before the client hears it, which takes a reply that it did not expect for a fault of its own.
      stream.prependListener('data', (reply: Buffer) => {
        this.refused = String(reply).trim();
        if (isPresent()) side.distrust();
      });
      this.isSilent = true;
      this.refused = undefined;
      side.worked();
    } catch (error) {
      if (!isReply(error)) side.failed(connection, error);
      if (!isPresent()) return;
      // What the server refuses here it refuses on the main connection as well, which reports it.
      if (isReply(error)) side.distrust();
      else side.ended(connection);
    }
  }
}

/** Whether it is what a server says, and no fault of a connection. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** A command as the server reads it. */
function inBytes(words: readonly (string | number)[]): string {
  let bytes = `*${words.length}\r\n`;
  for (const word of words) {
    const text = String(word);
    bytes += `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
  }
  return bytes;
}
