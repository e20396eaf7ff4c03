/** A word of a command. */
export type RedisWord = string | number | Buffer;

/** What a client reports to the store that uses it. */
export interface RedisClientEvents {
  /**
   * A connection has ended, or a cluster has another node: it comes before any reply of the next connection.
   *
   * @param isSilent whether promises of commands on their way may never settle.
   */
  onEnded(isSilent: boolean): void;
  /** Slots of a cluster are on other nodes. */
  onSlots(): void;
  /** A connection has failed. */
  onError(error: unknown): void;
}

/**
 * A client of Redis, with the commands that filters use. Replies of scripts and `GETRANGE` have bytes as
 * `Buffer`; an error of the server rejects with its text as the message (`NOSCRIPT …`). Commands of one tick
 * share a write. Nothing is sent to a replica. The store sees to deadlines.
 */
export interface RedisClient {
  /** What the client puts before each key given to it. */
  readonly keyPrefix: string;
  /** The state in which a command would only wait, such as `reconnecting`; undefined: it is sent. */
  readonly disconnected: string | undefined;
  /** False while it connects: it may lead to another server soon. */
  readonly isSettled: boolean;
  /** On a Cluster alone. */
  readonly nodes?: RedisNodes;
  /** Called once, before all commands. */
  listen(events: RedisClientEvents): void;
  /** What most lookups send. */
  getRange(key: string, from: number, to: number): Promise<Buffer>;
  /** Any command whose first argument is its key, also of a module. */
  command(name: string, key: string, args: readonly RedisWord[]): Promise<unknown>;
  /** Runs a script by its digest. */
  evalsha(sha1: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown>;
  /** Runs a script by its source. */
  eval(source: string, keys: readonly string[], args: readonly RedisWord[]): Promise<unknown>;
  /** For each master, what sends it a command without keys. */
  masters(): readonly ((...words: RedisWord[]) => Promise<unknown>)[];
  /** Reports no more, and ends connections that are the store's; waits for no server. */
  close(): void;
  /** Opens a connection of the store again, which no master answers; false: there is none now. */
  reconnect?(): boolean;
  /** What the owner of the client can do about a replica that has answered for so long. */
  adviceOnReplica?(lostMs: number): string | undefined;
  /** What shows a proxy between here and the server. */
  ends?(): ConnectionEnds | undefined;
  /** Opens a connection of its own to the server; a Cluster has none, and filters have no leases there. */
  openExtra?(events: ExtraConnectionEvents, silentMs?: number): RedisExtraConnection;
  /** The same, for commands without replies; without it, they are replied to. */
  openSilent?(events: ExtraConnectionEvents): RedisSilentConnection;
}

/** The masters of a cluster, as the client knows them. */
export interface RedisNodes {
  /** The address of the one that has a slot. */
  masterOf(slot: number): string;
  /** The addresses of all of them. */
  all(): Iterable<string>;
}

/** The two ends of a connection, as they are seen here. */
export interface ConnectionEnds {
  /** Address and port of this end. */
  readonly local: string;
  /** Address and port of the server. */
  readonly remote: string;
  /** How long the connection has been open, if that is known. */
  readonly openMs: number | undefined;
}

/** What a connection reports. */
export interface ExtraConnectionEvents {
  /** It has failed; it ends too. */
  onError(error: unknown): void;
  /** It has ended. */
  onEnded(): void;
}

/**
 * A connection that connects once and never again: what waits is rejected when it ends. Keys and channels are
 * complete. It ends if it hears nothing for `silentMs` while it waits.
 */
export interface RedisExtraConnection {
  /** Sends a command. */
  call(...words: RedisWord[]): Promise<unknown>;
  /** Once more: in place of the listener before. */
  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<unknown>;
  /** Listens to a channel no more. */
  unsubscribe(channel: string): Promise<unknown>;
  /** Ends it. */
  close(): void;
}

/** Errors of the server have the name `ReplyError`. */
export interface RedisSilentConnection extends RedisExtraConnection {
  /** Sends `CLIENT REPLY OFF`. The result sends a command, or returns false while the connection is busy. */
  silence(onReply: (reply: string) => void): (words: readonly RedisWord[]) => boolean;
}
