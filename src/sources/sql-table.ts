import { BloomConfigError } from '../common/index.js';
import type { BloomId } from '../filter/index.js';
import type { BloomIdSource, BloomIdSpelling } from '../rebuild/index.js';
import { isBytes, isReadAsText, spellingOf } from './column-spelling.js';
import { type BloomPagingOptions, checkedPaging, fromPages } from './from-pages.js';
import { estimateIds } from './planner-estimate.js';
import { readCatalog } from './postgres-catalog.js';
import { numbered, type RunSql, type SqlQuery } from './sql-query.js';

/** Of a source that knows the table by its name alone. */
export interface SqlSourceOptions extends BloomPagingOptions {
  /**
   * Columns of which no two rows have equal values, and none is null; the column of the ids itself if it is unique. Default: what the
   * catalog of Postgres says. Other databases need it.
   */
  readonly key?: readonly string[];
  /**
   * The type of the column as the database names it, such as `uuid` or `varchar(20)`, by which `normalize` is chosen. Default: what the
   * catalog of Postgres says.
   */
  readonly type?: string;
}

/** A column of a table, and how a library asks for it. */
export interface SqlColumn {
  /** The function that made the source. */
  readonly maker: string;
  readonly isPostgres: boolean;
  /** Texts are compared without case unless a collation says otherwise. */
  readonly ignoresCase?: boolean;
  readonly run: RunSql;
  /** Quoted, as in a query. */
  readonly table: string;
  /** As the database names it. */
  readonly column: string;
  /** The name of a column as in a query. */
  readonly quote: (column: string) => string;
  /** What the application makes of the stored value, and looks up. */
  readonly convert?: (value: unknown) => BloomId | null | undefined;
}

interface Row {
  readonly id: BloomId | null;
  readonly [place: `k${number}`]: unknown;
}

/** A column that pages compare. */
interface Place {
  readonly sql: string;
  readonly isText: boolean;
  /** The id, read as it is, is its own place in the order. */
  readonly isId: boolean;
}

interface Pages {
  readonly table: string;
  readonly id: string;
  /** Read as the text that the database writes: drivers and libraries make of such values what they are told to. */
  readonly isIdText: boolean;
  /** Empty where nothing is known of which no two rows are equal; each value is read once then. */
  readonly order: readonly Place[];
}

/**
 * All values of a column, in pages that follow the column where it is unique, else the primary key.
 *
 * @throws {BloomConfigError} when there is no such table or column, or the key is not known.
 */
export async function fromSql(at: SqlColumn, options: SqlSourceOptions): Promise<BloomIdSource> {
  const { convert } = at;
  const paging = checkedPaging(at.maker, options);
  const known = await describe(at, options);
  const pages = pagesOf(at, known);
  const spelling = spellingOfColumn(at, known.type);
  return fromPages<Row>((after, { take }) => at.run(pageQuery(pages, after, take)) as Promise<Row[]>, {
    ...paging,
    key: convert ? (row) => convert(row.id) : 'id',
    count: async () => {
      const estimate = at.isPostgres ? await estimateIds(numbered(at.run), { ...at, ...known }) : undefined;
      return estimate ?? counted(at);
    },
    ...(spelling && { spelling }),
  });
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
    throw new BloomConfigError(
      `${maker}: expected the option key for ${nameOf(at)}, since the database is not Postgres: the columns of the primary key, or ` +
        `['${column}'] if no two rows have the same value.`,
    );
  }
  const columns = await readCatalog(numbered(at.run), at.table);
  const found = columns.find((one) => one.name === column);
  if (!found) {
    const there =
      columns.length === 0
        ? `There is no table ${at.table} that this user sees; check its name, its schema and the search_path.`
        : `The columns of ${at.table} are ${columns.map((one) => one.name).join(', ')}.`;
    throw new BloomConfigError(`${maker}: expected a column of a table, got '${nameOf(at)}'. ${there}`);
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

function spellingOfColumn(at: SqlColumn, type: string | undefined): BloomIdSpelling | undefined {
  const name = nameOf(at);
  // What it makes equal, nobody else knows.
  if (at.convert) return { column: `${name} has a type of the application` };
  if (type === undefined) return { column: `${name} is of a type that only the option \`type\` can tell` };
  return spellingOf({ name, type, ignoresCase: at.ignoresCase ?? false });
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

function pageQuery(pages: Pages, after: Row | undefined, take: number): SqlQuery {
  const { table, id, isIdText, order } = pages;
  const isDistinct = order.length > 0;
  const places = isDistinct ? order.map(({ sql }) => `t.${sql}`) : [`t.${id}`];
  const rows = `from ${table} t where t.${id} is not null`;
  // A name without its table would be that of the output.
  const inOrder = `order by ${places.join(', ')} limit ${take}`;
  const [head, tail] = isDistinct
    ? [`select ${selected(pages).join(', ')} ${rows}`, inOrder]
    : [
        `select ${read('d.id', isIdText)} as id from (select distinct t.${id} as id ${rows}`,
        `${inOrder}) d order by d.id`,
      ];
  if (!after) return { strings: [`${head} ${tail}`], values: [] };
  const values = places.map((_, i) => (!isDistinct || order[i]!.isId ? after.id : after[`k${i}`]));
  if (places.length === 1) return { strings: [`${head} and ${places[0]} > `, ` ${tail}`], values };
  const commas = values.slice(1).map(() => ', ');
  return { strings: [`${head} and (${places.join(', ')}) > (`, ...commas, `) ${tail}`], values };
}

function selected({ id, isIdText, order }: Pages): string[] {
  const places = order.map(({ sql, isText }, i) => `${read(`t.${sql}`, isText)} as k${i}`);
  return [`${read(`t.${id}`, isIdText)} as id`, ...places.filter((_, i) => !order[i]!.isId)];
}

function read(column: string, isText: boolean): string {
  return isText ? `${column}::text` : column;
}

async function counted({ run, table }: SqlColumn): Promise<number> {
  const [row] = (await run({ strings: [`select count(*) as n from ${table}`], values: [] })) as {
    n: unknown;
  }[];
  return Number(row?.n);
}
