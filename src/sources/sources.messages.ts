import { count, describeError, plural, printed } from '../common/index.js';
import { isRounded, ROUNDED } from '../filter/index.js';

export const noExactPlace = (value: unknown) =>
  `Expected a page of the source to end with a value that says exactly where the next one begins (a text, a safe integer, a bigint, ` +
  `bytes), got ${printed(value)}. ` +
  (isRounded(value)
    ? ROUNDED
    : 'Have the driver give such values as text, order by another unique key, or use fromPages of nestjs-bloom.');

export const notAPageReader = (readPage: unknown) =>
  `Expected fromPages to be given a function, got ${printed(readPage)}.`;

export const notANewRowsReader = (readPage: unknown) =>
  `Expected newRows.readPage of fromPages to be a function, got ${printed(readPage)}.`;

export const wrongPaging = (name: string, option: string, from: number, to: number, got: unknown) =>
  `${name}: expected ${option} to be an integer from ${from} to ${to}, got ${printed(got)}.`;

export const NO_LONGER_READ = 'The ids of the source are no longer read.';

export const pageIsNoArray = (got: string) =>
  `Expected a page of the source to be an array of rows, got ${got}.`;

export const pageTooLong = (take: number, pageLength: number) =>
  `Expected a page of at most ${plural(take, 'row')}, got ${count(pageLength)}. Limit the query of the page by \`take\`.`;

export const pageRepeats = (rows: number) =>
  `Expected the rows after the last one of a page, got a page that ends with the same row, after ${plural(rows, 'row')}. Compare with ` +
  '`after` in the query, order by the columns that it compares, and select them exactly as the database has them.';

export const pageFailed = (times: number, rows: number, cause: unknown) =>
  `A page of the source failed ${plural(times, 'time')} in a row, after ${plural(rows, 'row')}. ${describeError(cause)}`;

export const rowsMayBeHidden = (table: string) =>
  `The table ${table} has row-level security for the user of this connection, whose policies may hide rows: they would be answered "absent". ` +
  'Read it as a user with BYPASSRLS, or set the option seesAllRows of the source if the policies hide no row from this user.';

export const mayLagBehind = (table: string) =>
  `The server that ${table} was to be read from is a standby: it may lack rows whose ids were added longer than drainMs ago, and they would be ` +
  'answered "absent". Read the primary, or set the option fromReplica of the source, and a rebuild.drainMs and a topUp.overlapMs that are longer than ' +
  'the standby ever lags behind.';

export const nullInKey = (maker: string, columns: string, table: string) =>
  `${maker}: expected the columns ${columns} of the option key to have a value in every row of ${table}, got null in one. A ` +
  'page cannot begin there. Name the columns of the primary key.';

export const noKeyOption = (maker: string, table: string, column: string) =>
  `${maker}: expected the option key for ${table}, since the database does not say it: the columns of the primary key, or ` +
  `['${column}'] if no two rows have the same value.`;

export const notAColumn = (maker: string, got: string, there: string) =>
  `${maker}: expected a column of a table, got '${got}'. ${there}`;

/** A message for a property that is no column. */
export const noSuchColumn = (maker: string, entity: string, property: string, columns: string) =>
  `${maker}: expected a column of the entity ${entity}, got '${property}'. Its columns are ${columns}.`;

export const NO_SOURCES = 'inParallel: expected an array of one source at least, got none.';

export const notASourceToMerge = (got: unknown) =>
  `inParallel: expected sources, objects with ids(), classes of providers, or what a function such as fromTypeOrm returns, got ${printed(got)}.`;

export const ORDERS_NOT_MERGED =
  'several sources are read, whose common order is not known (options newRows and idOrder of inParallel)';

export const NO_NEW_ROWS =
  'inParallel: expected newRows to be a source with idsSince, got one without it. Give it the option order, or write idsSince.';

export const wrongRangeBound = (name: string, expected: string, got: unknown) =>
  `rangesOf: expected ${name} to be ${expected}, got ${printed(got)}.`;

export const wrongRangeCount = (most: number, got: unknown) =>
  `rangesOf: expected count to be an integer from 1 to ${most}, got ${printed(got)}.`;

export const spellingsDiffer = (one: string | undefined, other: string | undefined) =>
  `inParallel: expected all sources to spell ids alike, got one whose ${one ?? 'ids have one spelling'}, and one whose ` +
  `${other ?? 'ids have one spelling'}. Give them columns of one type, or a filter each.`;

export const noOrderOfType = (name: string, type: string) =>
  `${name} is of type ${type}, which does not say that ids are made in order (option ids of the source)`;

export const notGenerated = (name: string) =>
  `the database makes no ids of ${name} in order (option ids of the source, if others do)`;

export const orderOnlyLooks = (name: string, condition: string) =>
  `ids of ${name} only look ordered: they come from ${condition}`;

export const otherKind = (name: string, kind: string, got: string) =>
  `${name} has ids that are not ${kind} of the time until now, such as ${printed(got)} among its last rows`;

export const madeByOthers = (name: string, order: string) =>
  `new ids of ${name} are found by ${order} (option order of the source)`;

export const notIndexed = (name: string) => `no unique index is over ${name} alone`;

export const CATALOG_NOT_READ = 'the catalog of the database could not be read';

export const wrongKind = (maker: string, ids: string, name: string, type: string | undefined) =>
  `${maker}: expected ${name} to be of ${ids === 'snowflake' || ids === 'sequence' ? 'integers' : ids === 'uuidv7' ? 'uuids or texts' : 'texts'} with ids: '${ids}', got ` +
  `${type ?? 'a type of the application'}. Name the column that has these ids, or leave ids out.`;

export const notAKind = (maker: string, kinds: readonly string[], got: unknown) =>
  `${maker}: expected the option ids to be one of ${kinds.map((kind) => `'${kind}'`).join(', ')}, got ${printed(got)}. Leave it out where ids are made in no order.`;

export const noSingleKey = (maker: string, table: string, key: readonly string[]) =>
  `${maker}: expected ${table} to have a primary key of one column, got ${key.length === 0 ? 'none' : key.join(', ')}. Name the column of the ids.`;

export const notAnInteger = (maker: string, column: string, got: unknown) =>
  `${maker}: expected the column ${column} of the option order to have integers, got ${printed(got)}. ` +
  (isRounded(got) ? ROUNDED : 'Name another column, or write idsSince yourself.');

export const notAnOrder = (maker: string, column: string, type: string) =>
  `${maker}: expected the column ${column} of the option order to be one of integers, texts, uuids or timestamps, got ${type}. Name another column, or write idsSince yourself.`;

export const notATime = (maker: string, column: string) =>
  `${maker}: expected the column ${column} of the option order to have times of the years 1 to 9999, got another one, such as infinity. Name another column, or write idsSince yourself.`;

export const orderNotUnique = (maker: string, column: string) =>
  `${maker}: expected the column ${column} of the option order to be unique, or the table to have a primary key, got neither: rows of one value could be left out.`;
