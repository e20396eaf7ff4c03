import { BloomConfigError } from '../common/index.js';
import type { BloomIdSource, BloomIdSpelling } from '../rebuild/index.js';
import { columnName, isBytes, isReadAsText, spellingOf } from './column-spelling.js';
import {
  type BloomTableOptions,
  estimateIds,
  expectAllRows,
  hasKey,
  readCatalog,
} from './postgres-catalog.js';
import { collationOf, numbered, type SqlColumn } from './sql-query.js';
import { checkedPaging, fromPages } from './from-pages.js';
import type { BloomPageFunction } from './page-reader.js';
import { type BloomOrderOptions, newRows } from './new-rows.js';
import { pageQuery, type Pages, type Row } from './page-query.js';
import { nullInKey, noKeyOption, notAColumn } from './sources.messages.js';

/** Options of a source that knows the table by its name alone. */
export interface SqlSourceOptions extends BloomTableOptions, BloomOrderOptions {
  /**
   * Columns of a key without nulls; the column of the ids itself if it is unique. Default: the catalog of
   * Postgres. Other databases need it.
   */
  readonly key?: readonly string[];
  /**
   * The type of the column as the database names it, by which `normalize` is chosen. Default: the catalog of
   * Postgres.
   */
  readonly type?: string;
}

/**
 * All values of a column, in pages that follow the column where it is unique, else the primary key. Throws
 * without such a table or column, or a known key.
 */
export async function fromSql(at: SqlColumn, options: SqlSourceOptions): Promise<BloomIdSource> {
  const { convert } = at;
  const paging = checkedPaging(at.maker, options);
  const known = await describe(at, options);
  const spelling = await spellingOfColumn(at, known.type);
  const made = () =>
    fromPages<Row>(pageReader(at, known, options), {
      ...paging,
      key: convert ? (row) => convert(row.id) : 'id',
      count: async () => {
        const estimate = at.isPostgres ? await estimateIds(numbered(at.run), { ...at, ...known }) : undefined;
        return estimate ?? counted(at);
      },
      ...(spelling && { spelling }),
      readsFrom: columnName(at.table, at.column),
    });
  const { order, fromReplica } = options;
  const pages = pagesOf(at, known);
  const ordered = order === undefined ? undefined : await newRows({ at, pages, order, paging, fromReplica });
  return { ...made(), ids: (context) => made().ids(context), ...ordered };
}

/** The methods that the option `order` adds to a source of a table. */
export async function newRowsOfTable(
  at: SqlColumn,
  { order, ...options }: SqlSourceOptions & Required<BloomOrderOptions>,
): Promise<Required<Pick<BloomIdSource, 'idsSince' | 'newest'>>> {
  const pages = pagesOf(at, await describe(at, options));
  const { fromReplica } = options;
  return newRows({ at, pages, order, paging: checkedPaging(at.maker, options), fromReplica });
}

/** State of one reading: the first page decides by which key the next ones begin. */
function pageReader(at: SqlColumn, known: Known, options: SqlSourceOptions): BloomPageFunction<Row> {
  let pages = pagesOf(at, known);
  return async (after, { take }) => {
    if (!after) {
      await expectWholeTable(at, known, options);
      if (!(await isKey(at, known, options))) pages = { ...pages, order: [] };
    }
    return at.run(pageQuery(pages, after, take)) as Promise<Row[]>;
  };
}

/**
 * A key of a definition or the catalog is followed if the database has it now; the option `key` is trusted.
 */
async function isKey(at: SqlColumn, { order }: Known, { key }: SqlSourceOptions): Promise<boolean> {
  const names = order.map(({ name }) => name);
  const isGiven = key !== undefined && !at.isKeyDefined;
  if (isGiven || !at.isPostgres || names.every((name) => name === at.column)) return true;
  return hasKey(numbered(at.run), at.table, names);
}

/** @throws {BloomConfigError} where rows would be left out. */
async function expectWholeTable(
  at: SqlColumn,
  { order }: Known,
  { key, ...options }: SqlSourceOptions,
): Promise<void> {
  if (at.isPostgres) await expectAllRows(numbered(at.run), at.table, options);
  const others = order.filter(({ name }) => name !== at.column).map(({ name }) => `t.${at.quote(name)}`);
  if (!key || at.isKeyDefined || others.length === 0) return;
  const without = `select 1 as n from ${at.table} t where ${others.map((one) => `${one} is null`).join(' or ')} limit 1`;
  if ((await at.run({ strings: [without], values: [] })).length === 0) return;
  throw new BloomConfigError(nullInKey(at.maker, key.join(', '), nameOf(at)));
}

interface Known {
  /** Undefined where nobody says it. */
  readonly type: string | undefined;
  readonly isUnique: boolean;
  readonly order: readonly { readonly name: string; readonly type?: string }[];
}

async function describe(at: SqlColumn, { key, type }: SqlSourceOptions): Promise<Known> {
  const { maker, isPostgres, column } = at;
  const isUnique = key?.length === 1 && key[0] === column;
  if (key && (type || !isPostgres)) {
    return { type, isUnique, order: key.map((one) => ({ name: one })) };
  }
  if (!isPostgres) {
    throw new BloomConfigError(noKeyOption(maker, nameOf(at), column));
  }
  const columns = await readCatalog(numbered(at.run), at.table);
  const found = columns.find((one) => one.name === column);
  if (!found) {
    const there =
      columns.length === 0
        ? `There is no table ${at.table} that this user sees; check its name, its schema and the search_path.`
        : `The columns of ${at.table} are ${columns.map((one) => one.name).join(', ')}.`;
    throw new BloomConfigError(notAColumn(maker, nameOf(at), there));
  }
  const primary = columns.filter(({ place }) => place).sort((a, b) => a.place! - b.place!);
  const byName = (one: string) => columns.find(({ name: other }) => other === one) ?? { name: one };
  return {
    type: type ?? found.type,
    isUnique: found.isUnique || isUnique,
    order: key ? key.map(byName) : found.isUnique ? [found] : primary,
  };
}

/** For messages. */
function nameOf({ table, column }: SqlColumn): string {
  return `${table}.${column}`.replace(/["`]/g, '');
}

async function spellingOfColumn(
  at: SqlColumn,
  given: string | undefined,
): Promise<BloomIdSpelling | undefined> {
  const name = nameOf(at);
  // What it makes equal, nobody else knows.
  if (at.convert) return { column: `${name} has a type of the application` };
  const of = { table: at.table, column: at.quote(at.column) };
  const collation = at.isMySql ? await collationOf(at.run, of) : undefined;
  const type = given ?? (collation && 'string');
  if (type === undefined) return { column: `${name} is of a type that only the option \`type\` can tell` };
  return spellingOf({ name, type, collation, ignoresCase: at.ignoresCase ?? false });
}

function pagesOf(at: SqlColumn, { type: idType, order }: Known): Pages {
  const { isPostgres, table, column, quote } = at;
  const isIdText = isPostgres && !at.convert && idType !== undefined && !isBytes(idType);
  const places = order.map(({ name, type }) => {
    const isText = isPostgres && (type === undefined || isReadAsText(type));
    return { sql: quote(name), isText, isId: name === column && (isIdText || !isText) };
  });
  return { table, id: quote(column), isIdText, order: places };
}

async function counted({ run, table }: SqlColumn): Promise<number> {
  const [row] = (await run({ strings: [`select count(*) as n from ${table}`], values: [] })) as {
    n: unknown;
  }[];
  return Number(row?.n);
}
