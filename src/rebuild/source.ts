import type { BloomId } from '../filter/index.js';

/** Where all ids of a filter come from: usually an async generator over a table's key column. */
export interface BloomIdSource {
  /**
   * All ids, one by one or, faster, in batches of some thousand. The run reads to the end or calls `return()`; when it is told to
   * stop, `signal` aborts.
   *
   * It has to read what is committed when it is called, or later. It is called `drainMs` after the staging was published; a snapshot or
   * transaction that was opened before, as in `count()`, lacks rows whose ids were added in between, and they would be answered "absent".
   */
  ids(context: { signal: AbortSignal }): AsyncIterable<BloomId | readonly BloomId[]>;

  /**
   * About how many ids there are, if that is known: sizes the filter and makes progress a share. It is called before anything is staged:
   * `ids()` must not read from a snapshot that was opened here.
   */
  count?(): Promise<number | undefined>;
}
