import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomIdSource, BloomMark } from '../rebuild/index.js';
import { type BloomPageContext, PageReader, type PageReaderOptions } from './page-reader.js';
import { notANewRowsReader } from './sources.messages.js';

/** Of `fromPages`, for `topUp`: how rows are read in an order in which new ones come last. */
export interface BloomNewPagesOptions<Row> {
  /** Reads the rows that follow `after`, the last row of the page before; without one, those whose mark is greater than `mark`; without both, the first ones. None at the end. */
  readonly readPage: (
    from: { readonly mark: BloomMark | undefined; readonly after: Row | undefined },
    context: BloomPageContext,
  ) => Promise<readonly Row[]> | readonly Row[];
  /** The mark of a row, exactly as the database compares it. Left out: ids are in that order themselves. */
  readonly mark?: (row: Row) => BloomMark;
  /** The mark of the last row in that order; undefined while there is no row. */
  readonly newest?: () => Promise<BloomMark | undefined>;
}

/**
 * `idsSince` and `newest` of a source that is read in pages.
 *
 * @throws {BloomConfigError} for what cannot read.
 */
export function newPages<Row>(
  { readPage, mark: markOf, newest }: BloomNewPagesOptions<Row>,
  idsOf: (page: readonly Row[]) => BloomId[],
  paging: Pick<PageReaderOptions<Row>, 'take' | 'retries' | 'retryMs'>,
): Pick<BloomIdSource, 'idsSince' | 'newest'> {
  if (typeof readPage !== 'function') throw new BloomConfigError(notANewRowsReader(readPage));
  return {
    async *idsSince(mark, { signal, onRetry }) {
      const read = (after: Row | undefined, context: BloomPageContext) => readPage({ mark, after }, context);
      const reader = new PageReader<Row>({ ...paging, signal, onRetry, read });
      for (let page = await reader.read(undefined); page.length > 0; page = await reader.read(page.at(-1))) {
        const ids = idsOf(page);
        yield markOf ? { ids, mark: markOf(page.at(-1)!) } : ids;
      }
    },
    ...(newest && { newest }),
  };
}
