import { BloomConfigError } from '../common/index.js';
import { type BloomId, type BloomScope, scopedId } from '../filter/index.js';
import type {
  BloomIdOrder,
  BloomIdsContext,
  BloomIdSource,
  BloomIdSpelling,
  BloomMark,
  BloomNoIdOrder,
} from '../rebuild/index.js';
import {
  type BloomPageContext,
  type BloomPageFunction,
  PageReader,
  type PageReaderOptions,
} from './page-reader.js';
import { NO_LONGER_READ, notANewRowsReader, notAPageReader, wrongPaging } from './sources.messages.js';

/** How the pages of a source are read. */
export interface BloomPagingOptions {
  /** Rows of a page. Default 5,000. */
  readonly take?: number;
  /** How often a page that failed is read again before the rebuild fails. Default 3. */
  readonly retries?: number;
  /** Wait before the first retry, in milliseconds; it doubles, up to ten seconds. Default 200. */
  readonly retryMs?: number;
}

/** Options of `fromPages`. */
export interface BloomPagesOptions<Row> extends BloomPagingOptions {
  /** The property of a row that is the id, or what returns it; a row without an id is left out. */
  readonly key?: BloomIdProperty<Row> | ((row: Row) => BloomId | null | undefined);
  /** The tenant of a row, for a filter with `scoped: true`: a property, or what returns it. */
  readonly scope?: (keyof Row & string) | ((row: Row) => BloomScope);
  /** About how many ids there are: `count()` of the source. */
  readonly count?: () => Promise<number | undefined>;
  /** For `topUp`: `idsSince` and `newest` of the source. */
  readonly newRows?: BloomNewPagesOptions<Row>;
  /** Order in which ids are made, where `newRows` gives ids without marks: `idOrder` of the source. */
  readonly idOrder?: BloomIdOrder | BloomNoIdOrder;
  /** What the filter takes for `normalize` when its definition has none. */
  readonly spelling?: BloomIdSpelling;
  /** Table and column: `readsFrom` of the source. */
  readonly readsFrom?: string;
}

/** The properties of an object that hold an id. */
export type BloomIdProperty<Row> = {
  [Name in keyof Row & string]-?: NonNullable<Row[Name]> extends BloomId ? Name : never;
}[keyof Row & string];

const DEFAULT_TAKE = 5_000;

/**
 * A source that reads a table in pages, each after the last row of the one before, until a page is empty.
 *
 * `readPage` compares with `after` in the query and orders by the same columns, of which no two rows have
 * equal values. Rows that exist and do not move in that order while it is read are never left out.
 *
 * @example
 * fromPages<Row>(
 *   (after, { take }) =>
 *     sql`select made_at::text, id from products
 *         where ${after ? sql`(made_at, id) > (${after.made_at}, ${after.id})` : sql`true`}
 *         order by made_at, id limit ${take}`,
 *   { key: 'id' },
 * );
 *
 * @throws {BloomConfigError} for an option that cannot work.
 */
export function fromPages<Row>(
  readPage: BloomPageFunction<Row>,
  ...[options = {} as BloomPagesOptions<Row>]: [Row] extends [BloomId]
    ? [options?: BloomPagesOptions<Row>]
    : [options: BloomPagesOptions<Row> & Required<Pick<BloomPagesOptions<Row>, 'key'>>]
): BloomIdSource {
  const { key, scope, count, newRows, idOrder, spelling, readsFrom } = options;
  const paging = checkedPaging('fromPages', options);
  if (typeof readPage !== 'function') throw new BloomConfigError(notAPageReader(readPage));
  const bareIdOf = typeof key === 'string' ? (row: Row) => row[key] : (key as (row: Row) => unknown);
  const idOf =
    scope === undefined
      ? bareIdOf
      : (row: Row) => {
          const id = bareIdOf(row) as BloomId | null | undefined;
          if (id === null || id === undefined) return id;
          return scopedId((typeof scope === 'string' ? row[scope] : scope(row)) as BloomScope, id);
        };
  const idsOf = (page: readonly Row[]) =>
    (idOf ? page.map(idOf) : page).filter((id) => id !== null && id !== undefined) as BloomId[];
  return {
    ids: (context) => readPages({ ...context, ...paging, read: readPage, idsOf }),
    ...(count && { count }),
    ...(newRows && newPages(newRows, idsOf, paging)),
    ...(idOrder && { idOrder }),
    ...(scope !== undefined && { scoped: true }),
    ...(spelling && { spelling }),
    ...(readsFrom !== undefined && { readsFrom }),
  };
}

/** The options with their defaults. Throws for a value that cannot work. */
export function checkedPaging(name: string, options: BloomPagingOptions): Required<BloomPagingOptions> {
  const { take = DEFAULT_TAKE, retries = 3, retryMs = 200 } = options;
  const expect = (option: string, got: unknown, from: number, to: number) => {
    if (!Number.isSafeInteger(got) || Number(got) < from || Number(got) > to)
      throw new BloomConfigError(wrongPaging(name, option, from, to, got));
  };
  expect('take', take, 1, 1_000_000);
  expect('retries', retries, 0, 100);
  expect('retryMs', retryMs, 0, 60_000);
  return { take, retries, retryMs };
}

interface Pages<Row> extends BloomIdsContext, Required<BloomPagingOptions> {
  readonly read: BloomPageFunction<Row>;
  readonly idsOf: (page: readonly Row[]) => BloomId[];
}

async function* readPages<Row>(pages: Pages<Row>): AsyncGenerator<BloomId[]> {
  const { signal, onRetry, idsOf } = pages;
  const ended = new AbortController();
  const reader = new PageReader({ ...pages, onRetry, signal: AbortSignal.any([signal, ended.signal]) });
  let next = reader.read(undefined);
  try {
    for (;;) {
      const page = await next;
      if (page.length === 0) return;
      next = reader.read(page.at(-1));
      // It may fail while nobody waits for it yet.
      next.catch(() => {});
      const ids = idsOf(page);
      if (ids.length > 0) yield ids;
    }
  } finally {
    ended.abort(new Error(NO_LONGER_READ));
  }
}

/**
 * The option `newRows` of `fromPages`, for `topUp`: how rows are read in an order in which new ones come
 * last.
 */
export interface BloomNewPagesOptions<Row> {
  /**
   * Reads the rows after `after`, the last row of the page before; without one, those beyond `mark`; without
   * both, the first ones. None at the end.
   */
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
 * The last rows of a page come in small pieces with marks: the mark of the filter stays behind the last row.
 */
const LAST_ROWS = 200;
const LAST_PIECE = 20;

export function* piecesOf<Row>(page: readonly Row[]): Generator<readonly Row[]> {
  const most = page.length - LAST_ROWS;
  if (most > 0) yield page.slice(0, most);
  for (let at = Math.max(0, most); at < page.length; at += LAST_PIECE) yield page.slice(at, at + LAST_PIECE);
}

/** `idsSince` and `newest` of a source that is read in pages. */
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
