import type { InjectionToken } from '@nestjs/common';
import {
  BloomConfigError,
  type BloomId,
  type BloomIdsContext,
  type BloomIdSource,
  type BloomOrderOptions,
  type BloomSourceFactory,
} from 'nestjs-bloom';
import {
  type BloomTableOptions,
  columnName,
  estimateIds,
  expectAllRows,
  madeFrom,
  newRowsOfTable,
  packableIds,
  type PackedIds,
  primaryKeyOf,
  type RunQuery,
  type SqlQuery,
  withNumbers,
} from 'nestjs-bloom/sources';
import { assertReadable, CopyOut } from './copy-out.js';
import { PostgresSession } from './postgres-session.js';
import type { PostgresPool } from './postgres-pool.js';
import { notAPool, unknownOption, wrongOption } from './postgres.messages.js';
import { type CopiedColumn, describeColumn, expectName, quoted, quotedTable } from './postgres-table.js';

/** Options of `postgresCopy`. */
export interface PostgresCopyOptions
  extends BloomOrderOptions, Pick<BloomTableOptions, 'seesAllRows' | 'fromReplica'> {
  /**
   * The `Pool` of `pg`, or its token in the application. One client of it is used while the source is read.
   */
  readonly pool: InjectionToken | PostgresPool;
  /** A table or a view: its name as the catalog has it, or schema and name with a dot between them. */
  readonly table: string;
  /**
   * The schema, if one of the names has a dot. Default: what stands before the dot in `table`, else the
   * `search_path`.
   */
  readonly schema?: string;
  /** The column of the ids, as the catalog has it. Default: the primary key. */
  readonly column?: string;
  /**
   * The type of the column as the database names it, such as `uuid`. Default: the catalog is asked at start.
   */
  readonly type?: string;
  /** The column of the tenant, for a filter with `scoped: true`: ids are those of `scopedId`. */
  readonly scope?: string;
}

const OPTIONS = [
  'pool',
  'table',
  'schema',
  'column',
  'type',
  'scope',
  'seesAllRows',
  'fromReplica',
  'order',
  'ids',
];

/**
 * All values of the primary key of a table of Postgres, or of one column of a table or view, read by one
 * `COPY` in the binary format: as fast as the server sends them, and in bounded memory. A row whose value is
 * null is left out.
 *
 * @example
 * BloomModule.forFeature([
 *   { name: 'products', capacity: 10_000_000, source: postgresCopy({ pool: PG_POOL, table: 'products',
 *   column: 'id' }) },
 * ]);
 *
 * @throws {BloomConfigError} for an option that cannot work; at the start of the application, when there is
 * no such table or column, or when ids are not of its type.
 */
export function postgresCopy(options: PostgresCopyOptions): BloomSourceFactory {
  check(options);
  const { pool } = options;
  return madeFrom<PostgresPool>(isPool(pool) ? { object: pool } : { token: pool as InjectionToken }, (made) =>
    sourceOf(made, options),
  );
}

async function sourceOf(pool: PostgresPool, options: PostgresCopyOptions): Promise<BloomIdSource> {
  if (!isPool(pool)) throw new BloomConfigError(notAPool(pool));
  const ask: RunQuery = async (sql, parameters) => (await pool.query(sql, [...parameters])).rows;
  const named = options.column ?? (await primaryKeyOf(ask, 'postgresCopy', quotedTable(options)));
  const column = await describeColumn(ask, { ...options, column: named }, options);
  const { scope } = options;
  const { spelling, isNormal, table } = column;
  const ordered = scope === undefined ? await newRowsOf(pool, column, options) : { scoped: true };
  return {
    ids(context) {
      const ids = packableIds(() => read(pool, column, options, context), spelling?.normalize);
      return isNormal ? ids : asTexts(ids);
    },
    count: async () => {
      const isUnique = column.isUnique || scope !== undefined;
      const estimate = await estimateIds(ask, { ...column, isUnique });
      if (estimate !== undefined) return estimate;
      const [row] = (await ask(`select count(*)::text as n from ${table}`, [])) as { n: string }[];
      return Number(row!.n);
    },
    ...(spelling && { spelling }),
    readsFrom: columnName(table, column.column),
    ...ordered,
  };
}

/** These are few rows: they are read in pages. */
function newRowsOf(
  pool: PostgresPool,
  { table, column, type }: CopiedColumn,
  { order, ids, fromReplica = false }: PostgresCopyOptions,
) {
  const at = {
    maker: 'postgresCopy',
    isPostgres: true,
    run: async (query: SqlQuery) => {
      const { rows } = await pool.query(withNumbers(query), [...query.values]);
      return rows as object[];
    },
    table,
    column,
    quote: quoted,
  };
  return newRowsOfTable(at, {
    fromReplica,
    type,
    ...(order !== undefined && { order }),
    ...(ids !== undefined && { ids }),
  });
}

/** Not packed: the keys are yet to be formed. */
async function* asTexts(ids: AsyncIterable<readonly BloomId[]>): AsyncGenerator<readonly BloomId[]> {
  yield* ids;
}

async function* read(
  pool: PostgresPool,
  { table, kind, copy }: CopiedColumn,
  options: PostgresCopyOptions,
  { signal }: BloomIdsContext,
): AsyncGenerator<PackedIds> {
  const session = await PostgresSession.open(pool, signal);
  try {
    assertReadable(session.client);
    // Whatever the defaults of the connection are, the rows are those that are committed when COPY begins.
    await session.run('begin isolation level read committed, read only');
    await session.run(`set local client_encoding to 'UTF8'`);
    await expectAllRows((sql, values) => session.run(sql, values), table, options);
    const rows = session.copy(new CopyOut(copy, kind));
    for (let batch = await rows.next(); batch; batch = await rows.next()) yield batch;
    await session.run('commit');
    session.release();
  } finally {
    session.destroy();
  }
}

function isPool(pool: unknown): pool is PostgresPool {
  if (typeof pool !== 'object' || pool === null) return false;
  return (
    'connect' in pool &&
    typeof pool.connect === 'function' &&
    'query' in pool &&
    typeof pool.query === 'function'
  );
}

/** @throws {BloomConfigError} */
function check(options: PostgresCopyOptions): void {
  const { pool, column, type, scope, seesAllRows, fromReplica, order, ids } = options;
  const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) throw new BloomConfigError(unknownOption(unknown));
  const mayBeToken = ['string', 'symbol', 'function'].includes(typeof pool);
  if (!isPool(pool) && (!mayBeToken || pool === '')) throw new BloomConfigError(notAPool(pool));
  quotedTable(options);
  if (column !== undefined) expectName('column', column);
  if (type !== undefined) expectName('type', type);
  if (scope !== undefined) expectName('scope', scope);
  if (order !== undefined) expectName('order', order);
  if (ids !== undefined) expectName('ids', ids);
  for (const [option, value] of Object.entries({ seesAllRows, fromReplica }))
    if (value !== undefined && typeof value !== 'boolean')
      throw new BloomConfigError(wrongOption(option, value));
}
