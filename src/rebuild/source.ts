import type { BloomId } from '../filter/index.js';

/** Where all ids of a filter come from: usually an async generator over a table's key column. */
export interface BloomIdSource {
  /**
   * All ids, one by one or, faster, in batches of some thousand. The run reads to the end or calls `return()`; when it is told to
   * stop, `signal` aborts.
   */
  ids(context: { signal: AbortSignal }): AsyncIterable<BloomId | readonly BloomId[]>;

  /** About how many ids there are, if that is known: sizes the filter and makes progress a share. */
  count?(): Promise<number | undefined>;
}
