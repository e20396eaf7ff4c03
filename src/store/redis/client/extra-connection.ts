import type { BloomEventListener } from '../../../common/index.js';
import type { ExtraConnectionEvents, RedisClient, RedisExtraConnection } from '../../index.js';
import { answeredTooLate } from './client.messages.js';

/** Pauses between two connections, growing while they fail. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;
/** To connect, and to have the first answer. */
const OPENING_MS = 10_000;

export interface ExtraConnectionContext<Connection> {
  /** What it is for, to report that it does not come about. */
  readonly purpose: string;
  readonly client: RedisClient;
  readonly open: (events: ExtraConnectionEvents) => Connection;
  readonly emit: BloomEventListener;
  /** Names the server that the client leads to: with another name, this connection is opened again. */
  readonly serverOf: () => string;
  readonly onOpened: (connection: Connection) => void;
  /** It has ended, or was given up. */
  readonly onEnded: () => void;
}

/**
 * A connection beside that of a client, for what that one may not do. It never connects again automatically:
 * what was on its way is lost then, and whoever uses it has to know that.
 */
export class ExtraConnection<Connection extends RedisExtraConnection = RedisExtraConnection> {
  private connection: Connection | undefined;
  /** The connection whose errors are reported, also after it has ended, unless it was closed here. */
  private reported: Connection | undefined;
  /** The server to which the connection leads. */
  private server = '';
  private pauseMs = 0;
  private openAt = -Infinity;
  /** By then it is given up; `Infinity` once it has worked. */
  private openUntil = Infinity;
  private isClosed = false;
  /** Reported once until it works again. */
  private hasFailed = false;

  constructor(private readonly context: ExtraConnectionContext<Connection>) {}

  get present(): Connection | undefined {
    return this.connection;
  }

  /**
   * Opens a connection if there is none, or it leads to another server than the client. Called now and then.
   */
  keep(): void {
    if (this.isClosed) return;
    const server = this.context.serverOf();
    if (this.connection && server !== this.server) this.hangUp();
    if (this.connection && performance.now() > this.openUntil) this.giveUp(this.connection);
    if (this.connection || performance.now() < this.openAt) return;
    if (!this.context.client.isSettled) return;
    this.server = server;
    this.open();
  }

  /** It is answered. */
  worked(): void {
    this.openUntil = Infinity;
    this.pauseMs = 0;
    this.hasFailed = false;
  }

  failed(connection: Connection, error: unknown): void {
    if (this.reported !== connection) return;
    if (!this.hasFailed) this.context.emit({ type: 'connection-error', error });
    this.hasFailed = true;
  }

  ended(connection: Connection): void {
    if (this.connection === connection) this.leave();
  }

  /** Gives a connection up that does not do what it is for; there is another one after a while. */
  distrust(): void {
    this.hangUp();
    this.openAt = performance.now() + LONGEST_PAUSE_MS;
  }

  hangUp(): void {
    this.reported = undefined;
    this.leave();
  }

  close(): void {
    this.isClosed = true;
    this.hangUp();
  }

  /** What it was asked first may never be answered, as behind a firewall that drops what it forwards. */
  private giveUp(connection: Connection): void {
    this.failed(connection, new Error(answeredTooLate(this.context.purpose, OPENING_MS)));
    this.hangUp();
  }

  private open(): void {
    this.pauseMs = Math.min(Math.max(2 * this.pauseMs, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    const now = performance.now();
    this.openAt = now + this.pauseMs;
    this.openUntil = now + OPENING_MS;
    const connection: Connection = this.context.open({
      onError: (error) => this.failed(connection, error),
      onEnded: () => this.ended(connection),
    });
    this.connection = this.reported = connection;
    this.context.onOpened(connection);
  }

  private leave(): void {
    const { connection } = this;
    this.connection = undefined;
    if (!connection) return;
    connection.close();
    this.context.onEnded();
  }
}
