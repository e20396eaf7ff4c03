import { BloomConfigError, type BloomIdSpelling } from 'nestjs-bloom';
import { isBytes, readCatalog, type RunQuery, spellingOf } from 'nestjs-bloom/sources';
import type { ColumnKind } from './column-kind.js';
import {
  bytesInScope,
  noIdType,
  noSuchTable,
  noSuchTableColumn,
  tooManyDots,
  wrongName,
} from './postgres.messages.js';

/** The types beside those that `spellingOf` knows whose text every driver gives alike. */
const OTHER_TYPES = /^(?:numeric|decimal|oid)(?:\(|$)/;
const CASTS = { integer: 'int8', uuid: 'uuid', text: 'text', bytes: 'bytea' } as const;
/**
 * A longer value is no id. What is beyond is cut off by the server, so that a row takes bounded memory here.
 */
const MOST_BYTES = 65_537;

export interface TableNames {
  readonly table: string;
  readonly schema?: string | undefined;
}

export interface ColumnNames extends TableNames {
  readonly column: string;
}

/** A column that is read. */
export interface CopiedColumn {
  /** Quoted, as in a query. */
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isUnique: boolean;
  readonly kind: ColumnKind;
  readonly spelling: BloomIdSpelling | undefined;
  /** Whether each value, as the server writes it, is already what the spelling makes of it. */
  readonly isNormal: boolean;
  /** `COPY … TO STDOUT`. */
  readonly copy: string;
}

/**
 * The table as in a query.
 *
 * @throws {BloomConfigError} for what cannot be a name.
 */
export function quotedTable({ table, schema }: TableNames): string {
  expectName('table', table);
  if (schema !== undefined) {
    expectName('schema', schema);
    return `${quoted(schema)}.${quoted(table)}`;
  }
  const parts = table.split('.');
  if (parts.length > 2 || parts.includes('')) throw new BloomConfigError(tooManyDots(table));
  return parts.map(quoted).join('.');
}

/** @throws {BloomConfigError} for what cannot be a name. */
export function expectName(option: string, name: unknown): void {
  if (typeof name === 'string' && name !== '' && !name.includes('\0')) return;
  throw new BloomConfigError(wrongName(option, name));
}

/**
 * What is to be known of a column before it is read: by the catalog, unless the type is given.
 *
 * @throws {BloomConfigError} for one that is not there, and for one of a type that ids do not have.
 */
export async function describeColumn(
  run: RunQuery,
  names: ColumnNames,
  { type: givenType, scope }: { readonly type?: string | undefined; readonly scope?: string | undefined },
): Promise<CopiedColumn> {
  const table = quotedTable(names);
  const { column } = names;
  const { type, isUnique } =
    givenType === undefined ? await found(run, table, column) : { type: givenType, isUnique: false };
  const name = `${table.replaceAll('"', '')}.${column}`;
  const spelling = spellingOf({ name, type });
  const kind = kindOf(type, spelling);
  if (kind === undefined) throw new BloomConfigError(noIdType(name, type));
  if (scope !== undefined && kind === 'bytes') throw new BloomConfigError(bytesInScope(name, type));
  return {
    table,
    column,
    type,
    isUnique,
    kind: scope === undefined ? kind : 'text',
    spelling,
    isNormal: scope === undefined && spelling?.name !== 'lowerCase',
    copy:
      scope === undefined
        ? copyQuery(table, `t.${quoted(column)}::${CASTS[kind]}`, kind === 'integer' || kind === 'uuid')
        : copyQuery(table, inScope(quoted(column), quoted(scope)), false),
  };
}

async function found(run: RunQuery, table: string, column: string) {
  const columns = await readCatalog(run, table);
  if (columns.length === 0) throw new BloomConfigError(noSuchTable(table));
  const one = columns.find(({ name }) => name === column);
  if (one) return one;
  throw new BloomConfigError(
    noSuchTableColumn(
      table,
      column,
      columns.map(({ name }) => name),
    ),
  );
}

function kindOf(type: string, spelling: BloomIdSpelling | undefined): ColumnKind | undefined {
  if (isBytes(type)) return 'bytes';
  if (spelling === undefined) return 'text';
  if (spelling.name === 'integer' || spelling.name === 'uuid') return spelling.name;
  if (spelling.name === 'padded' || spelling.name === 'lowerCase') return 'text';
  const isKnown =
    spelling.name === undefined && (OTHER_TYPES.test(type.toLowerCase()) || / collate /i.test(type));
  return isKnown ? 'text' : undefined;
}

/**
 * The cast fixes the form of what is read, also where the type of the column has changed since it was asked
 * for. Rows of tables that inherit, and of partitions, are read too; `COPY table` would leave them out.
 */
function copyQuery(table: string, value: string, isBounded: boolean): string {
  const read = isBounded
    ? value
    : `case when octet_length(${value}) < ${MOST_BYTES} then ${value} else substr(${value}, 1, ${MOST_BYTES}) end`;
  return `copy (select ${read} from ${table} t) to stdout (format binary)`;
}

/** What `scopedId` makes of a row. One without a scope has an empty one, which the filter refuses. */
function inScope(column: string, scope: string): string {
  const text = `coalesce(t.${scope}::text, '')`;
  return `(octet_length(convert_to(${text}, 'UTF8'))::text || ':' || ${text} || ':' || t.${column}::text)`;
}

/** A name as in a query. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
