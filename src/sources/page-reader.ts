import { isDeepStrictEqual } from 'node:util';
import { BloomConfigError, jittered, systemClock } from '../common/index.js';
import { pageIsNoArray, pageTooLong, pageRepeats, pageFailed } from './sources.messages.js';

/** What a page is read with. */
export interface BloomPageContext {
  /** Rows that the page may have at most. */
  readonly take: number;
  /** Aborts when the page is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Reads the rows after `after`, the last row of the page before, in the order of the database; none at the
 * end.
 */
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
      throw new TypeError(pageIsNoArray(typeof page));
    }
    if (page.length > take) {
      throw new RangeError(pageTooLong(take, page.length));
    }
    if (page.length > 0 && after !== undefined && isDeepStrictEqual(page.at(-1), after)) {
      throw new Error(pageRepeats(this.rows));
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
    return new Error(pageFailed(retries + 1, this.rows, cause), { cause });
  }
}
