import { BloomConfigError } from '../common/index.js';
import type { BloomIdSource, BloomIdSpelling } from '../rebuild/index.js';
import { columnName, isBytes, isReadAsText, spellingOf } from './column-spelling.js';
import {
  type BloomTableOptions,
  estimateIds,
  expectAllRows,
  hasKey,
  onlyOf,
  primaryKeyOf,
  primaryOf,
  readCatalog,
} from './postgres-catalog.js';
import { collationOf, nameOf, numbered, type SqlColumn, type SqlTable } from './sql-query.js';
import { checkedPaging, fromPages } from './from-pages.js';
import type { BloomPageFunction } from './page-reader.js';
import { type BloomOrderOptions, idOrderOf, otherKindOfLast } from './id-order.js';
import { newRows } from './new-rows.js';
import { pageQuery, type Pages, type Row, selected } from './page-query.js';
import { noKeyOption, notAColumn, notIndexed, nullInKey } from './sources.messages.js';

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
  /** The column of the tenant, for a filter with `scoped: true`. The table needs a key. */
  readonly scope?: string;
}

/**
 * All values of a column, in pages that follow the column where it is unique, else the primary key. Throws
 * without such a table or column, or a known key.
 */
export async function fromSql(table: SqlTable, options: SqlSourceOptions): Promise<BloomIdSource> {
  const at = { ...table, column: table.column ?? (await primaryKey(table, options)) };
  const { convert } = at;
  const paging = checkedPaging(at.maker, options);
  const known = await describe(at, options);
  const spelling = await spellingOfColumn(at, known.type);
  const made = () =>
    fromPages<Row>(pageReader(at, known, options), {
      ...paging,
      key: convert ? (row) => convert(row.id) : 'id',
      ...(options.scope !== undefined && { scope: 's' }),
      count: async () => {
        const isUnique = known.isUnique || options.scope !== undefined;
        const estimate = at.isPostgres ? await estimateIds(numbered(at.run), { ...at, isUnique }) : undefined;
        return estimate ?? counted(at);
      },
      ...(spelling && { spelling }),
      readsFrom: columnName(at.table, at.column),
    });
  const ordered = options.scope === undefined ? await newRowsOf(at, known, options) : {};
  return { ...made(), ids: (context) => made().ids(context), ...ordered };
}

async function primaryKey(
  { maker, table, isPostgres, run }: SqlTable,
  { key }: SqlSourceOptions,
): Promise<string> {
  const bare = table.replace(/["`]/g, '');
  if (!key && !isPostgres) throw new BloomConfigError(noKeyOption(maker, bare, 'id'));
  return key ? onlyOf(maker, bare, key) : primaryKeyOf(numbered(run), maker, table);
}

type NewRows = Pick<BloomIdSource, 'idsSince' | 'newest' | 'idOrder' | 'openTransactions'>;

/**
 * What a source of a table knows of its order: `idsSince` and `newest` where ids are made in ascending order,
 * or by the option `order`.
 */
export async function newRowsOfTable(
  at: SqlColumn,
  options: SqlSourceOptions,
): Promise<Pick<BloomIdSource, 'idsSince' | 'newest' | 'idOrder' | 'openTransactions'>> {
  const idOrder = await idOrderOf(at, { type: undefined, ...options });
  if (options.order === undefined && typeof idOrder !== 'string') return { idOrder };
  // The key of a definition may be none of the database.
  const { key, type: _type, ...others } = options;
  const known = await describe(at, { ...others, ...(!at.isPostgres && key && { key }) });
  return newRowsBy(at, known, { ...options, idOrder });
}

async function newRowsOf(at: SqlColumn, known: Known, options: SqlSourceOptions): Promise<NewRows> {
  const idOrder = await idOrderOf(at, { ...options, type: known.type });
  return newRowsBy(at, known, { ...options, idOrder });
}

async function newRowsBy(
  at: SqlColumn,
  known: Known,
  { idOrder: told, order, ids, ...options }: SqlSourceOptions & Pick<BloomIdSource, 'idOrder'>,
): Promise<NewRows> {
  if (order === undefined && typeof told !== 'string') return { idOrder: told };
  if (order === undefined && ids === undefined && !known.isUnique)
    return { idOrder: { reason: notIndexed(nameOf(at)) } };
  const paging = checkedPaging(at.maker, options);
  const { fromReplica } = options;
  const pages = pagesOf(at, known);
  const [id] = selected({ ...pages, order: [] });
  const reason = told === 'text' ? await otherKindOfLast(at, id!, ids) : undefined;
  const idOrder = reason === undefined ? told : { reason };
  if (order === undefined && typeof idOrder === 'object') return { idOrder };
  return {
    idOrder,
    ...(await newRows({ at, pages, order: order ?? at.column, idOrder, paging, fromReplica })),
  };
}

/** State of one reading: the first page decides by which key the next ones begin. */
function pageReader(at: SqlColumn, known: Known, options: SqlSourceOptions): BloomPageFunction<Row> {
  const { scope } = options;
  let pages = { ...pagesOf(at, known), scope: scope === undefined ? undefined : at.quote(scope) };
  return async (after, { take }) => {
    if (!after) {
      await expectWholeTable(at, known, options);
      if (!(await isKey(at, known, options))) pages = { ...pages, order: [] };
      if (scope !== undefined && pages.order.length === 0)
        throw new BloomConfigError(noKeyOption(at.maker, nameOf(at), at.column));
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
  const byName = (one: string) => columns.find(({ name: other }) => other === one) ?? { name: one };
  return {
    type: type ?? found.type,
    isUnique: found.isUnique || isUnique,
    order: key ? key.map(byName) : found.isUnique ? [found] : primaryOf(columns),
  };
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
