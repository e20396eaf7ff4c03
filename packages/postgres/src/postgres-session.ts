import type { CopyOut } from './copy-out.js';
import type { PostgresClient, PostgresConnection, PostgresPool } from './postgres-pool.js';

/**
 * One client of a pool, until it is given back. It is ended when the signal aborts: a server that sends to
 * nobody would wait for ever.
 */
export class PostgresSession {
  private copied: CopyOut | undefined;
  private isReleased = false;
  private readonly onError = (error: Error) => this.copied?.fail(error);
  private readonly onAbort = () => {
    this.copied?.fail(this.signal.reason);
    this.destroy();
  };

  private constructor(
    readonly client: PostgresClient,
    private readonly signal: AbortSignal,
  ) {
    // A client that is in use has no other listener, and an error without one ends the process.
    client.on('error', this.onError);
    signal.addEventListener('abort', this.onAbort);
    if (signal.aborted) this.destroy();
  }

  /** @throws what the signal aborts with, also while the pool has no client. */
  static async open(pool: PostgresPool, signal: AbortSignal): Promise<PostgresSession> {
    signal.throwIfAborted();
    let stop!: () => void;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop);
    });
    const connecting = pool.connect();
    try {
      return new PostgresSession(await Promise.race([connecting, aborted]), signal);
    } catch (error) {
      connecting.then(
        (client) => client.release(),
        () => {},
      );
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** @throws what the signal aborts with. */
  async run(sql: string, values?: readonly unknown[]): Promise<unknown[]> {
    this.signal.throwIfAborted();
    try {
      const { rows } = await this.client.query(sql, values && [...values]);
      return rows;
    } catch (error) {
      this.signal.throwIfAborted();
      throw error;
    }
  }

  copy(query: CopyOut): CopyOut {
    this.signal.throwIfAborted();
    this.copied = query;
    return this.client.query(query);
  }

  /** Gives the client back to the pool, which goes on using it. */
  release(): void {
    if (!this.leave()) return;
    this.client.removeListener('error', this.onError);
    this.client.release();
  }

  /** Ends the connection, unless it was given back. */
  destroy(): void {
    if (!this.leave()) return;
    const { connection } = this.client as { connection?: Partial<PostgresConnection> };
    // At once: a polite end would wait until the server has sent what nobody reads.
    connection?.stream?.destroy?.();
    this.client.release(true);
  }

  private leave(): boolean {
    if (this.isReleased) return false;
    this.isReleased = true;
    this.signal.removeEventListener('abort', this.onAbort);
    return true;
  }
}
