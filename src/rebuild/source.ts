import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomMark } from './marks.js';
import { notAsync } from './rebuild.messages.js';

/** What a source is given for one reading of all ids. */
export interface BloomIdsContext {
  /** Aborts when the run is asked to stop, or the source is no longer waited for. */
  readonly signal: AbortSignal;
  /**
   * To be called when something failed that the source tries again; it becomes the event `source-retried`.
   */
  readonly onRetry?: (error: unknown) => void;
}

/** Where all ids of a filter come from: usually an async generator over a table's key column. */
export interface BloomIdSource {
  /**
   * All ids, one by one or, faster, in batches of some thousand. The run reads to the end or calls
   * `return()`; when it is asked to stop, `signal` aborts.
   *
   * It has to read what is committed when it is called, or later. It is called `drainMs` after the staging
   * was published; a snapshot or transaction that was opened before, as in `count()`, lacks rows whose ids
   * were added in between, and they would be answered "absent".
   */
  ids(context: BloomIdsContext): AsyncIterable<BloomId | readonly BloomId[]>;

  /**
   * About how many ids there are, if that is known: sizes the filter and makes progress a share. It is called
   * before anything is staged: `ids()` must not read from a snapshot that was opened here.
   */
  count?(): Promise<number | undefined>;

  /**
   * The ids of rows that come after `mark`, in an order in which new rows come last: for `topUp`, which adds
   * them. `undefined` asks for all ids. Batches come in that order. Give the id itself as a plain id where
   * ids are in that order, else `{ ids, mark }` with the mark of the last row.
   *
   * @example
   * async *idsSince(mark = 0) { yield await sql`select id from products where id > ${mark} order by id`; }
   */
  idsSince?(
    mark: BloomMark | undefined,
    context: BloomIdsContext,
  ): AsyncIterable<BloomId | readonly BloomId[] | BloomMarkedIds>;

  /**
   * The mark of the last row in the order of `idsSince`, or of the row that `others` later rows follow.
   * Undefined where there is no such row. With it a rebuild sets the mark. Without it the first mark costs
   * `topUp` two readings of all ids, and nobody notices a mark that went back.
   *
   * @param others how many rows are left out at the end. Default 0.
   * @example
   * async newest(others = 0) { return sql`select id from products order by id desc offset ${others} limit 1`;
   * }
   */
  newest?(others?: number): Promise<BloomMark | undefined>;

  /**
   * `'integer'` or `'text'`: ids are made in that order, as by a sequence. A new row has a greater id than
   * all rows that were visible `topUp.overlapMs` before, and `idsSince` gives plain ids in that order. The
   * filter is covered then (`coverage`). `{ reason }`: they are not, for the log. Left out: the source does
   * not know.
   *
   * @example
   * readonly idOrder = 'integer';
   */
  readonly idOrder?: BloomIdOrder | BloomNoIdOrder | undefined;

  /**
   * Which transactions are open, of a database that tells it; undefined where it does not. It is asked before
   * `idsSince`, of the server that is read. With it a mark passes a row when all transactions have ended that
   * may have an id before it, however long they take.
   */
  openTransactions?(): Promise<BloomOpenTransactions | undefined>;

  /**
   * The rows whose ids these are, such as `products.sku`, of a source that knows its table. Processes that
   * share a filter compare it: a filter of other rows is rebuilt. Left out: it is not compared.
   */
  readonly readsFrom?: string | undefined;

  /** Each id is one of `scopedId`: the filter needs `scoped: true`. */
  readonly scoped?: boolean;

  /**
   * How the ids are spelled, of a source that knows the type of its column. It has to be the same in every
   * process.
   */
  readonly spelling?: BloomIdSpelling | undefined;
}

/**
 * Order of ids: integers of any size, or texts by their code points, such as ULIDs, ObjectIds and UUIDs of
 * version 7.
 */
export type BloomIdOrder = 'integer' | 'text';

/** Ids that are made in no order. */
export interface BloomNoIdOrder {
  /** Why, as a part of a sentence: `products.sku is of type text`. */
  readonly reason: string;
}

/**
 * What a method of a source has returned.
 *
 * @throws {BloomConfigError} for what cannot be read by `for await`, such as an array or a promise.
 */
export function expectAsync<Ids extends object>(ids: Ids, method: 'ids' | 'idsSince'): Ids {
  const { [Symbol.asyncIterator]: iterator } = (ids ?? {}) as Partial<AsyncIterable<unknown>>;
  if (typeof iterator === 'function') return ids;
  // It is not awaited, and may fail.
  if (ids instanceof Promise) ids.catch(() => {});
  const got = Array.isArray(ids) ? 'an array' : ids instanceof Promise ? 'a promise' : typeof ids;
  throw new BloomConfigError(notAsync(method, got));
}

/** A batch of ids of rows whose order is not that of their ids. */
export interface BloomMarkedIds {
  /** The ids. */
  readonly ids: readonly BloomId[];
  /** That of the last row of the batch. */
  readonly mark: BloomMark;
}

/** The transactions of a database at one moment, numbered in the order in which they begin to write. */
export interface BloomOpenTransactions {
  /** Names a run of the server. After a failover another one may lack rows, and gives numbers out again. */
  readonly server: string;
  /** Each transaction with a smaller number has ended. */
  readonly oldest: bigint;
  /** No transaction has this number yet, or a larger one. */
  readonly next: bigint;
}

/** What a source knows of the spellings that its database takes for one id. */
export interface BloomIdSpelling {
  /** What the column is, as a part of a sentence: `product.sku is of type uuid`. */
  readonly column: string;
  /** The name of the function, for the log: `uuid`. Undefined where no function of this package fits. */
  readonly name?: string;
  /** What the filter uses as `normalize` when its definition has none. */
  readonly normalize?: (id: BloomId) => BloomId;
  /**
   * What the database takes for equal and `normalize` does not: `'ß' and 's'`. It becomes an advice at start.
   */
  readonly alsoEqual?: string;
}
