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
  /** The mark of the last row in that order, `others` rows left out; undefined where there is no such row. */
  readonly newest?: (others?: number) => Promise<BloomMark | undefined>;
}

/**
 * The last rows of a page come in small pieces, each with a mark of its own: the mark of the filter stays
 * some rows behind the last one.
 */
const LAST_ROWS = 200;
const LAST_PIECE = 20;

export function* piecesOf<Row>(page: readonly Row[]): Generator<readonly Row[]> {
  const most = page.length - LAST_ROWS;
  if (most > 0) yield page.slice(0, most);
  for (let at = Math.max(0, most); at < page.length; at += LAST_PIECE) yield page.slice(at, at + LAST_PIECE);
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
        if (!markOf) yield idsOf(page);
        else for (const piece of piecesOf(page)) yield { ids: idsOf(piece), mark: markOf(piece.at(-1)!) };
      }
    },
    ...(newest && { newest }),
  };
}
