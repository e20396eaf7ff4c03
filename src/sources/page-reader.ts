import { isDeepStrictEqual } from 'node:util';
import { BloomConfigError, describeError, jittered, systemClock } from '../common/index.js';

/** What a page is read with. */
export interface BloomPageContext {
  /** Rows that the page may have at most. */
  readonly take: number;
  /** Aborts when the page is no longer needed. */
  readonly signal: AbortSignal;
}

/** Reads the rows that follow `after`, the last row of the page before, in the order of the database; none at the end. */
export type BloomPageFunction<Row> = (
  after: Row | undefined,
  context: BloomPageContext,
) => Promise<readonly Row[]> | readonly Row[];

export interface PageReaderOptions<Row> {
  readonly read: BloomPageFunction<Row>;
  readonly take: number;
  readonly retries: number;
  readonly retryMs: number;
  readonly signal: AbortSignal;
  readonly onRetry: ((error: unknown) => void) | undefined;
}

const MAX_RETRY_MS = 10_000;

/** Reads pages one after the other, and one that failed again. */
export class PageReader<Row> {
  private rows = 0;

  constructor(private readonly options: PageReaderOptions<Row>) {}

  async read(after: Row | undefined): Promise<readonly Row[]> {
    const { take, signal } = this.options;
    const page = await this.tried(after);
    signal.throwIfAborted();
    if (!Array.isArray(page)) {
      throw new TypeError(`Expected a page of the source to be an array of rows, got ${typeof page}.`);
    }
    if (page.length > take) {
      throw new RangeError(
        `Expected a page of at most ${take} rows, got ${page.length}. Limit the query of the page by \`take\`.`,
      );
    }
    if (page.length > 0 && after !== undefined && isDeepStrictEqual(page.at(-1), after)) {
      throw new Error(
        `Expected the rows after the last one of a page, got a page that ends with the same row, after ${this.rows} rows. Compare with ` +
          '`after` in the query, order by the columns that it compares, and select them exactly as the database has them.',
      );
    }
    this.rows += page.length;
    return page;
  }

  private async tried(after: Row | undefined): Promise<readonly Row[]> {
    const { read, take, retries, retryMs, signal, onRetry } = this.options;
    for (let failures = 0; ;) {
      signal.throwIfAborted();
      try {
        return await read(after, { take, signal });
      } catch (error) {
        signal.throwIfAborted();
        // What is set up wrongly is so the next time too.
        if (error instanceof BloomConfigError) throw error;
        if (failures === retries) throw this.lastFailure(error);
        onRetry?.(error);
        const waitMs = Math.min(retryMs * 2 ** failures, MAX_RETRY_MS);
        failures++;
        await systemClock.sleep(jittered(waitMs), signal);
      }
    }
  }

  private lastFailure(cause: unknown): unknown {
    const { retries } = this.options;
    if (retries === 0) return cause;
    return new Error(
      `A page of the source failed ${retries + 1} times in a row, after ${this.rows} rows. ${describeError(cause)}`,
      { cause },
    );
  }
}
