import type { BloomId } from '../filter/index.js';

/**
 * Follows what is committed to a database, whoever commits it, and adds the ids: logical replication of
 * Postgres (`postgresFeed` of `@nestjs-bloom/postgres/feed`), the binlog of MySQL, change streams of MongoDB.
 */
export interface BloomFeed {
  /**
   * Follows until `context.signal` aborts, then resolves. Rejects when it cannot go on: it is called again
   * after a pause, in this process or in another one. One process follows at a time.
   */
  follow(context: BloomFeedContext): Promise<void>;
}

/** What a feed is given. */
export interface BloomFeedContext {
  /** Name of the filter. */
  readonly filter: string;
  /** Aborts when this process is to follow no more. */
  readonly signal: AbortSignal;
  /**
   * What `save` has noted last, in whatever process; undefined before that, and when the store has lost it.
   */
  readonly position: string | undefined;
  /**
   * Adds ids of committed rows; ids that are there already do no harm.
   *
   * @throws {BloomUnavailableError} when they were not recorded: the feed has to end, and to begin again
   * before them.
   */
  add(ids: readonly BloomId[]): Promise<void>;
  /**
   * Notes how far the feed has come, after `add` has resolved for all ids before. Only when it returns true
   * may the feed tell the database to forget what lies before.
   * False: rows were missed, and the rebuild that reads them is not live yet.
   */
  save(position: string): Promise<boolean>;
  /**
   * Reports that rows before this moment may have been missed, such as those of a slot that is gone. The
   * filter is rebuilt, until a rebuild that begins from now on is live.
   */
  missed(reason: string): void;
  /** Says how far the feed is behind the database, for `info()`. */
  report(status: BloomFeedStatus): void;
}

/** How far a feed is behind its database. */
export interface BloomFeedStatus {
  /** What has been added, and the database may forget. */
  readonly position: string;
  /** Bytes of the log between it and the end, as the database has said last. */
  readonly behindBytes?: number;
}
