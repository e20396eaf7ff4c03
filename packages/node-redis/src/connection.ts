/** What is used of a client of node-redis. */
export interface NodeRedis {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  duplicate(overrides: object): NodeRedis;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  sendCommand(words: readonly (string | Buffer)[], options: object): Promise<unknown>;
  subscribe(channel: string, listener: MessageListener, asBuffers: true): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

export type MessageListener = (message: Buffer, channel: Buffer) => void;

/** Bulk strings, by their type byte, come as bytes. Early versions of redis 5 take this by command alone. */
export const IN_BYTES = { typeMapping: { ['$'.charCodeAt(0)]: Buffer }, timeout: undefined };
/** As clients of ioredis have it here. */
const CONNECT_TIMEOUT_MS = 3000;

export interface ConnectionEvents {
  onReady(): void;
  /** It has ended, or an attempt to connect failed; what was on its way is rejected. */
  onError(error: unknown): void;
}

/** A duplicate of a client, with what filters need of it, that can be ended in any state. */
export class Connection {
  readonly client: NodeRedis;
  /** When it reached the server last, by `performance.now()`; undefined while it does not. */
  connectedAt: number | undefined;
  private isEnded = false;

  constructor(
    source: NodeRedis,
    private readonly events: ConnectionEvents,
    reconnects: boolean,
  ) {
    const { socket = {} } = (source.options ?? {}) as { socket?: { reconnectStrategy?: unknown } };
    const { reconnectStrategy: own } = socket;
    const strategy = (retries: number, cause: unknown): unknown => {
      if (this.isEnded || !reconnects) return false;
      if (typeof own === 'function') return own(retries, cause);
      // Protection is to be back within a second of the server.
      return own ?? Math.min(50 * (retries + 1), 1000);
    };
    this.client = source.duplicate({
      RESP: 2,
      commandOptions: IN_BYTES,
      // What waits would be sent to the server of the next connection.
      disableOfflineQueue: true,
      pingInterval: undefined,
      clientSideCache: undefined,
      emitInvalidate: undefined,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: CONNECT_TIMEOUT_MS,
        ...socket,
        // It would end a connection that has nothing to do.
        socketTimeout: undefined,
        reconnectStrategy: strategy,
      },
    });
    this.client.on('connect', () => (this.connectedAt = performance.now()));
    this.client.on('ready', () => (this.isEnded ? this.destroy() : events.onReady()));
    this.client.on('error', (error) => this.failed(error));
    // Its error has been reported, or it was ended.
    this.client.connect().catch((error: unknown) => this.failed(error));
  }

  /** Rejects what is on its way; reports nothing more. */
  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    // A socket that is connecting cannot be reached: it is closed when it has connected.
    if (this.connectedAt !== undefined) this.destroy();
  }

  private failed(error: unknown): void {
    this.connectedAt = undefined;
    if (!this.isEnded) this.events.onError(error);
  }

  private destroy(): void {
    try {
      this.client.destroy();
    } catch {
      // It has ended by itself.
    }
  }
}

/** Words as node-redis takes them. */
export function inWords(words: readonly (string | number | Buffer)[]): (string | Buffer)[] {
  return words.map((word) => (typeof word === 'number' ? String(word) : word));
}
