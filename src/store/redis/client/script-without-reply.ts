import { type BloomEventListener, describeError } from '../../../common/index.js';
import type { RedisClient, RedisSilentConnection, RedisWord } from '../../index.js';
import { lostOnSilentConnection } from './client.messages.js';
import type { Script } from './script.js';
import { ExtraConnection } from './extra-connection.js';

/**
 * Sends one script again and again on a connection whose server does not reply. A reply costs the server a
 * write, and this process a turn of its event loop, a promise and its settling: more than the script itself.
 * Whether the script was carried out has to show elsewhere. Running it twice must do no harm.
 */
export class ScriptWithoutReply {
  private readonly side: ExtraConnection<RedisSilentConnection>;
  /** Called when a silent connection has ended: what was sent last may not have arrived. */
  private readonly users = new Set<() => void>();
  /** Sends a command; undefined until the server has been told to be silent. */
  private write: ((words: readonly RedisWord[]) => boolean) | undefined;
  private refused: string | undefined;

  constructor(
    private readonly client: RedisClient,
    private readonly script: Script,
    private readonly emit: BloomEventListener,
    serverOf: () => string,
  ) {
    this.side = new ExtraConnection({
      purpose: 'CLIENT REPLY',
      client,
      open: (events) => client.openSilent!(events),
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
  send(keys: readonly string[], args: readonly RedisWord[]): boolean {
    const { side, client } = this;
    if (!client.openSilent) return false;
    const before = side.present;
    side.keep();
    const { present } = side;
    const words = [keys.length, ...keys.map((key) => client.keyPrefix + key), ...args];
    if (present && present !== before) void this.silence(present, words);
    return this.write?.(['EVALSHA', this.script.sha1, ...words]) ?? false;
  }

  /** What was sent a while ago has not arrived: replies say why until another connection is opened. */
  missed(): void {
    if (!this.write) return;
    this.emit({ type: 'connection-error', error: new Error(lostOnSilentConnection(this.script.name)) });
    this.side.distrust();
  }

  close(): void {
    this.users.clear();
    this.side.close();
  }

  private ended(): void {
    if (!this.write) return;
    this.write = undefined;
    for (const onLost of this.users) onLost();
  }

  private async silence(connection: RedisSilentConnection, words: readonly RedisWord[]): Promise<void> {
    const { side, script } = this;
    const isPresent = () => side.present === connection;
    try {
      // Changes nothing, and is refused where silence is.
      await connection.call('CLIENT', 'REPLY', 'ON').catch((error: unknown) => {
        if (isReply(error)) this.refused = describeError(error);
        throw error;
      });
      // From Redis 7.4 on a server forgets scripts known by EVAL alone. A user who may not load does without.
      await connection.call('SCRIPT', 'LOAD', script.source).catch((error: unknown) => {
        if (!isReply(error)) throw error;
      });
      await connection.call('EVAL', script.source, ...words);
      if (!isPresent()) return;
      this.write = connection.silence((reply) => {
        this.refused = reply.trim();
        if (isPresent()) side.distrust();
      });
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
