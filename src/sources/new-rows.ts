import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomIdsContext, BloomIdSource, BloomMark, BloomMarkedIds } from '../rebuild/index.js';
import { expectPrimary, openTransactions, readCatalog, tellsTransactions } from './postgres-catalog.js';
import { isInteger, isText } from './column-spelling.js';
import { exactPlace, pageQuery, type Pages, type Place, type Row, selected } from './page-query.js';
import { type BloomPagingOptions, piecesOf } from './from-pages.js';
import { PageReader } from './page-reader.js';
import { notAColumn, notAnInteger, notAnOrder, notATime, orderNotUnique } from './sources.messages.js';
import { numbered, type SqlColumn } from './sql-query.js';

export interface NewRowsOf {
  readonly at: SqlColumn;
  readonly pages: Pages;
  readonly order: string;
  /** Order of the ids, where they are made in one. */
  readonly idOrder: BloomIdSource['idOrder'];
  readonly paging: Required<BloomPagingOptions>;
  readonly fromReplica: boolean | undefined;
}

/** What a source has with the option `order`. Throws for a column that is missing or has no known order. */
export async function newRows({
  at,
  pages,
  order,
  idOrder,
  paging,
  fromReplica = false,
}: NewRowsOf): Promise<Pick<BloomIdSource, 'idsSince' | 'newest' | 'openTransactions'>> {
  const isId = order === at.column && !at.convert;
  const place = await placeOf(at, order, pages, isId ? idOrder : undefined);
  const others = pages.order.filter(({ sql }) => sql !== at.quote(order));
  // A page could end between two rows of one value.
  if (others.length === 0 && !place.isUnique) throw new BloomConfigError(orderNotUnique(at.maker, order));
  const ordered: Pages = { ...pages, order: [place, ...others] };
  const markOf = (row: Row) => markFrom(at, row, place);
  const idOf = (row: Row) => (at.convert ? at.convert(row.id) : row.id);
  // What lags behind, or is another server than before, may lack rows that come before the mark.
  const expectAll = async () => {
    if (at.isPostgres && !fromReplica) await expectPrimary(numbered(at.run), at.table);
  };
  const run = numbered(at.run);
  // A transaction may end on the primary before its rows are on a standby.
  const tellsAll = at.isPostgres && !fromReplica && (await tellsTransactions(run, at.table));
  return {
    ...(tellsAll && { openTransactions: () => openTransactions(run) }),
    idsSince: (mark, context) =>
      isId
        ? mapped(read(at, ordered, { mark, paging, context, expectAll }), (rows) => [
            rows.map((row) => markOf(row) as BloomId),
          ])
        : mapped(read(at, ordered, { mark, paging, context, expectAll }), (rows) =>
            [...piecesOf(rows)].map((piece) => ({
              ids: piece.map(idOf).filter((id) => id !== null && id !== undefined),
              mark: markOf(piece.at(-1)!),
            })),
          ),
    newest: async (others = 0) => {
      await expectAll();
      const [row] = (await at.run({ strings: [newestQuery(ordered, place, others)], values: [] })) as Row[];
      return row && markOf(row);
    },
  };
}

async function* mapped(
  pages: AsyncIterable<readonly Row[]>,
  map: (rows: readonly Row[]) => readonly (readonly BloomId[] | BloomMarkedIds)[],
): AsyncGenerator<readonly BloomId[] | BloomMarkedIds> {
  for await (const rows of pages) yield* map(rows);
}

interface Wanted {
  readonly mark: BloomMark | undefined;
  readonly paging: Required<BloomPagingOptions>;
  readonly context: BloomIdsContext;
  readonly expectAll: () => Promise<void>;
}

async function* read(
  at: SqlColumn,
  pages: Pages,
  { mark, paging, context: { signal, onRetry }, expectAll }: Wanted,
): AsyncGenerator<readonly Row[]> {
  const reader = new PageReader<Row>({
    ...paging,
    signal,
    onRetry,
    read: async (after, { take }) => {
      if (!after) await expectAll();
      return at.run(after ? pageQuery(pages, after, take) : firstQuery(pages, mark, take)) as Promise<Row[]>;
    },
  });
  for (let page = await reader.read(undefined); page.length > 0; page = await reader.read(page.at(-1)))
    yield page;
}

function firstQuery(pages: Pages, mark: BloomMark | undefined, take: number) {
  const { table, id, order } = pages;
  const [first] = order;
  const places = order.map(({ sql }) => `t.${sql}`).join(', ');
  const head = `select ${selected(pages).join(', ')} from ${table} t where t.${id} is not null and t.${first!.sql} is not null`;
  const tail = ` order by ${places} limit ${take}`;
  if (mark === undefined) return { strings: [`${head}${tail}`], values: [] };
  return {
    strings: [`${head} and t.${first!.sql} > `, `${first!.as?.cast ?? ''}${tail}`],
    values: [exactPlace(mark)],
  };
}

function newestQuery(pages: Pages, { sql }: Place, others: number): string {
  const { table, id } = pages;
  const columns = selected({ ...pages, order: pages.order.slice(0, 1) }).join(', ');
  return `select ${columns} from ${table} t where t.${id} is not null and t.${sql} is not null order by t.${sql} desc limit 1 offset ${others}`;
}

/** Integers are bigints, so that nobody takes them for texts. */
function markFrom(at: SqlColumn, row: Row, { isId, sql, isCounted, as }: OrderPlace): BloomMark {
  const value = isId ? row.id : row.k0;
  if (as && value === null) throw new BloomConfigError(notATime(at.maker, sql));
  if (!isCounted) return value as BloomMark;
  const text = String(value);
  if (/^-?\d+$/.test(text) && (typeof value !== 'number' || Number.isSafeInteger(value))) return BigInt(text);
  throw new BloomConfigError(notAnInteger(at.maker, sql, value));
}

interface OrderPlace extends Place {
  /** Whether it is a column of integers. */
  readonly isCounted: boolean;
  /** Whether no two rows share a value. */
  readonly isUnique: boolean;
}

/**
 * Texts are compared by code points, as the filter compares them, whatever the collation. Those that are made
 * in order have one length and case, so the index of the column serves.
 */
async function placeOf(
  at: SqlColumn,
  order: string,
  { isIdText, order: key }: Pages,
  idOrder: BloomIdSource['idOrder'],
): Promise<OrderPlace> {
  const sql = at.quote(order);
  const isOfIds = order === at.column;
  // What is no integer shows with the first row.
  if (!at.isPostgres)
    return {
      sql,
      isText: false,
      isId: isOfIds,
      isCounted: idOrder !== 'text',
      isUnique: key.some((one) => one.sql === sql),
    };
  const columns = await readCatalog(numbered(at.run), at.table);
  const column = columns.find(({ name }) => name === order);
  if (!column) {
    const there = `The columns of ${at.table} are ${columns.map(({ name }) => name).join(', ')}.`;
    throw new BloomConfigError(notAColumn(at.maker, order, there));
  }
  const { type, isUnique } = column;
  const place = { sql, isText: true, isId: isOfIds && isIdText, isUnique };
  if (isInteger(type)) return { ...place, isCounted: true };
  if (type === 'uuid') return { ...place, isCounted: false };
  const as = readTime(type);
  if (as) return { ...place, isId: false, isCounted: false, as };
  if (!isText(type)) throw new BloomConfigError(notAnOrder(at.maker, order, type));
  if (idOrder === 'text') return { ...place, isCounted: false };
  return { ...place, sql: `${sql} collate "C"`, isId: false, isCounted: false };
}

/**
 * Reads a Postgres timestamp as text in UTC, with microseconds and one width, so that texts are in the order
 * of times whatever the session sets. The parameter is cast by way of text, since some drivers make a `Date`
 * of it. Null for a time without such a text; undefined for other types.
 */
export function readTime(
  type: string,
): { readonly read: (column: string) => string; readonly cast: string } | undefined {
  if (/^timestamp(?:\(\d\))? with time zone$/.test(type))
    return {
      read: (column) => text(column, `${column} at time zone 'UTC'`, '"Z"'),
      cast: '::text::timestamptz',
    };
  if (/^timestamp(?:\(\d\))? without time zone$/.test(type))
    return { read: (column) => text(column, column, ''), cast: '::text::timestamp' };
  return undefined;
}

function text(column: string, time: string, zone: string): string {
  const hasText = `${column} >= '0001-01-02' and ${column} < '9999-12-31'`;
  return `case when ${hasText} then to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.US${zone}') end`;
}
