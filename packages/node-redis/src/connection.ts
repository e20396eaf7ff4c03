/** What is used of a client of node-redis. */
export interface NodeRedis {
  readonly isReady: boolean;
  readonly options?: ClientOptions;
  duplicate(overrides: object): NodeRedis;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  sendCommand(words: readonly Word[], options: object): Promise<unknown>;
  subscribe(channel: string, listener: MessageListener, asBuffers: true): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

export interface ClientOptions {
  readonly keyPrefix?: unknown;
  readonly readonly?: unknown;
  readonly url?: string;
  readonly socket?: SocketOptions;
}

export interface SocketOptions {
  readonly host?: string;
  readonly port?: number;
  readonly reconnectStrategy?: unknown;
}

export type ConnectionOptions = Readonly<Record<string, unknown>> & { readonly socket: object };

/** Where connections lead. */
export interface Place {
  readonly socket: SocketOptions;
  /** A client that is not connected yet, of the server that is there now. */
  newClient(options: ConnectionOptions): NodeRedis | Promise<NodeRedis>;
}

export type MessageListener = (message: Buffer, channel: Buffer) => void;

/** As node-redis takes it. */
export type Word = string | Buffer;

/** Bulk strings, by their type byte, come as bytes. Early versions of redis 5 take this by command alone. */
export const IN_BYTES = { typeMapping: { ['$'.charCodeAt(0)]: Buffer }, timeout: undefined };
/** As clients of ioredis have it here. */
const CONNECT_TIMEOUT_MS = 3000;

export interface ConnectionEvents {
  onReady(client: NodeRedis): void;
  /** It has ended, or an attempt to connect failed; what was on its way is rejected. */
  onError(error: unknown): void;
}

/** A connection that can be ended in any state. Each attempt to connect is a client of its own. */
export class Connection {
  /** Undefined while there is no server to connect to. */
  client: NodeRedis | undefined;
  /** When it reached the server last, by `performance.now()`; undefined while it does not. */
  connectedAt: number | undefined;
  /** It was ended, or connects no more. */
  isOver = false;
  private retries = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly place: Place,
    private readonly events: ConnectionEvents,
    private readonly reconnects: boolean,
  ) {
    void this.connect();
  }

  /** Rejects what is on its way; reports nothing more. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    // A socket that is connecting cannot be reached: it is closed when it has connected.
    if (this.client && this.connectedAt !== undefined) destroy(this.client);
  }

  private async connect(): Promise<void> {
    let client: NodeRedis | undefined;
    try {
      client = await this.place.newClient({
        RESP: 2,
        commandOptions: IN_BYTES,
        // What waits would be sent to the server of the next connection.
        disableOfflineQueue: true,
        readonly: false,
        pingInterval: undefined,
        clientSideCache: undefined,
        emitInvalidate: undefined,
        maintNotifications: 'disabled',
        socket: {
          connectTimeout: CONNECT_TIMEOUT_MS,
          ...this.place.socket,
          // It would end a connection that has nothing to do.
          socketTimeout: undefined,
          reconnectStrategy: false,
        },
      });
      if (this.isOver) return;
      this.listenTo(client);
      this.client = client;
      await client.connect();
    } catch (error) {
      this.failed(client, error);
    }
  }

  private listenTo(client: NodeRedis): void {
    client.on('connect', () => {
      this.connectedAt = performance.now();
      if (this.isOver) setImmediate(destroy, client);
    });
    client.on('ready', () => {
      this.retries = 0;
      this.events.onReady(client);
    });
    client.on('error', (error) => this.failed(client, error));
  }

  private failed(client: NodeRedis | undefined, error: unknown): void {
    // It has been reported, or the connection was ended.
    if (this.isOver || client !== this.client) return;
    this.client = this.connectedAt = undefined;
    const pauseMs = this.reconnects ? this.pauseAfter(error) : undefined;
    this.isOver = pauseMs === undefined;
    // A reply that it could not read: which command the next reply is for is not known.
    if (client?.isReady) destroy(client);
    // The client rejects first what is on its way, with the error.
    else if (client) setImmediate(destroy, client);
    this.events.onError(error);
    if (!this.isOver) this.timer = setTimeout(() => void this.connect(), pauseMs);
  }

  /** Undefined: it connects no more. */
  private pauseAfter(cause: unknown): number | undefined {
    const { reconnectStrategy: own } = this.place.socket;
    const retries = this.retries++;
    let pauseMs = own;
    try {
      if (typeof own === 'function') pauseMs = own(retries, cause) as unknown;
    } catch (error) {
      pauseMs = undefined;
      this.events.onError(error);
    }
    // Protection is to be back within a second of the server.
    pauseMs ??= Math.min(50 * (retries + 1), 1000);
    return typeof pauseMs === 'number' ? pauseMs : undefined;
  }
}

function destroy(client: NodeRedis): void {
  try {
    client.destroy();
  } catch {
    // It has ended by itself.
  }
}

/** Words as node-redis takes them. */
export function inWords(words: readonly (string | number | Buffer)[]): Word[] {
  return words.map((word) => (typeof word === 'number' ? String(word) : word));
}
