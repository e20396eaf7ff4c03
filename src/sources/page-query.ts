import type { BloomId } from '../filter/index.js';
import type { SqlQuery } from './sql-query.js';
import { BloomConfigError } from '../common/index.js';
import { noExactPlace } from './sources.messages.js';

export interface Row {
  readonly id: BloomId | null;
  /** The scope, where one is read. */
  readonly s?: unknown;
  readonly [place: `k${number}`]: unknown;
}

/** A column that pages compare. */
export interface Place {
  readonly sql: string;
  readonly isText: boolean;
  /** The id, read as it is, is its own place in the order. */
  readonly isId: boolean;
  /** The expression that reads a value that is not read as it is, and the cast back for comparisons. */
  readonly as?: { readonly read: (column: string) => string; readonly cast: string };
}

export interface Pages {
  readonly table: string;
  readonly id: string;
  /** Read as the text that the database writes: the driver's value depends on its settings. */
  readonly isIdText: boolean;
  /** The column of the scope. */
  readonly scope?: string | undefined;
  /** Empty where nothing is known of which no two rows are equal; each value is read once then. */
  readonly order: readonly Place[];
}

/** The rows after one, or the first ones. */
export function pageQuery(pages: Pages, after: Row | undefined, take: number): SqlQuery {
  return pages.order.length > 0 ? rowsQuery(pages, after, take) : valuesQuery(pages, after, take);
}

function rowsQuery(pages: Pages, after: Row | undefined, take: number): SqlQuery {
  const { table, id, order } = pages;
  // A name without its table would be that of the output.
  const places = order.map(({ sql }) => `t.${sql}`);
  const head = `select ${selected(pages).join(', ')} from ${table} t where t.${id} is not null`;
  const tail = `order by ${places.join(', ')} limit ${take}`;
  if (!after) return { strings: [`${head} ${tail}`], values: [] };
  const values = order.map(({ isId }, i) => exactPlace(isId ? after.id : after[`k${i}`]));
  const casts = order.map(({ as }) => as?.cast ?? '');
  if (places.length === 1) return { strings: [`${head} and ${places[0]} > `, `${casts[0]} ${tail}`], values };
  const commas = casts.slice(0, -1).map((cast) => `${cast}, `);
  return {
    strings: [`${head} and (${places.join(', ')}) > (`, ...commas, `${casts.at(-1)}) ${tail}`],
    values,
  };
}

/** Different texts that the column takes for equal are each read: a row is looked up by its own. */
function valuesQuery({ table, id, isIdText }: Pages, after: Row | undefined, take: number): SqlQuery {
  const value = isIdText ? `t.${id}::text collate "C"` : `t.${id}`;
  const head = `select distinct ${value} as id from ${table} t where t.${id} is not null`;
  const tail = `order by ${value} limit ${take}`;
  if (!after) return { strings: [`${head} ${tail}`], values: [] };
  return { strings: [`${head} and ${value} > `, ` ${tail}`], values: [exactPlace(after.id)] };
}

export function selected({ id, isIdText, scope, order }: Pages): string[] {
  const places = order.map(
    ({ sql, isText, as }, i) => `${as?.read(`t.${sql}`) ?? read(`t.${sql}`, isText)} as k${i}`,
  );
  const scopes = scope === undefined ? [] : [`t.${scope} as s`];
  return [`${read(`t.${id}`, isIdText)} as id`, ...scopes, ...places.filter((_, i) => !order[i]!.isId)];
}

function read(column: string, isText: boolean): string {
  return isText ? `${column}::text` : column;
}

/**
 * A value by which the next page begins. Throws for one that may be less than what the database compares, so
 * that rows would be left out: a `Date` without microseconds, a rounded integer, null.
 */
export function exactPlace(value: unknown): unknown {
  const isExact =
    typeof value === 'string' ||
    typeof value === 'bigint' ||
    typeof value === 'boolean' ||
    Number.isSafeInteger(value) ||
    value instanceof Uint8Array;
  if (isExact) return value;
  throw new BloomConfigError(noExactPlace(value));
}
