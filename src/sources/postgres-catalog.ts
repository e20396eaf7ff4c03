import { BloomConfigError } from '../common/index.js';
import type { BloomOpenTransactions } from '../rebuild/index.js';
import type { BloomPagingOptions } from './from-pages.js';
import { mayLagBehind, noSingleKey, rowsMayBeHidden } from './sources.messages.js';

/** A column, as the catalog of Postgres has it. */
export interface CatalogColumn {
  /** As the database names it. */
  readonly name: string;
  /** Base type of a domain; `enum` for every enum; with `collate …` where texts that differ may be equal. */
  readonly type: string;
  /**
   * No two rows have values that the column takes for equal, by an index over all rows and this column alone.
   */
  readonly isUnique: boolean;
  /** Its place in the primary key, from 1. */
  readonly place?: number;
  /** Default, as the catalog prints it. */
  readonly made?: string;
  /** Sequence of an identity, or of a default that is the next value of a sequence. */
  readonly sequence?: {
    /** How many values a session takes at once. */
    readonly cache: number;
    /** From one value to the next. */
    readonly step: number;
    /** Whether it begins again after the last one. */
    readonly cycles: boolean;
  };
}

/**
 * A parent of inheriting tables has no key: its own says nothing of the rows of its children. The one cell is
 * text, since drivers and plugins change other types. An index may compare otherwise than its column: by
 * another collation, or with case where the type is citext.
 */
const COLUMNS = `
select json_agg(json_strip_nulls(json_build_object(
         'name', a.attname,
         'type', case when t.typtype = 'e' then 'enum' else format_type(t.oid, t.typmod) end
                 || case when o.collisdeterministic is false then ' collate ' || quote_ident(o.collname) else '' end,
         'isUnique', not (c.relkind = 'r' and c.relhassubclass) and exists (
           select from pg_index i
           where i.indrelid = c.oid and i.indisunique and i.indisvalid and i.indpred is null and i.indnkeyatts = 1
             and i.indkey[0] = a.attnum
             and (o.collisdeterministic is not false or i.indcollation[0] = a.attcollation)
             and not exists (
               select from pg_opclass p
               where p.opcintype = t.oid and p.opcdefault and p.oid <> i.indclass[0]
                 and p.opcmethod = (select m.oid from pg_am m where m.amname = 'btree'))),
         'place', (
           select p.place from pg_index i, unnest(i.indkey::int2[]) with ordinality as p (attnum, place)
           where i.indrelid = c.oid and i.indisprimary and p.place <= i.indnkeyatts and p.attnum = a.attnum
             and not (c.relkind = 'r' and c.relhassubclass)),
         'made', m.made,
         'sequence', (
           select json_build_object('cache', s.seqcache, 'step', s.seqincrement, 'cycles', s.seqcycle)
           from pg_sequence s join pg_depend p on p.objid = s.seqrelid and p.classid = 'pg_class'::regclass
           where p.refclassid = 'pg_class'::regclass and p.refobjid = c.oid and p.refobjsubid = a.attnum and p.deptype = 'i'
           union all
           select json_build_object('cache', s.seqcache, 'step', s.seqincrement, 'cycles', s.seqcycle)
           from pg_sequence s join pg_depend p on p.refobjid = s.seqrelid and p.refclassid = 'pg_class'::regclass
           where p.classid = 'pg_attrdef'::regclass and p.objid = m.oid and p.deptype = 'n'
             and m.made ~ '^nextval\\(''[^)]*''::regclass\\)$'
           limit 1)
       )) order by a.attnum)::text as columns
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
cross join lateral (
  with recursive base as (
    select y.oid, y.typtype, a.atttypmod as typmod, y.typbasetype, y.typtypmod from pg_type y where y.oid = a.atttypid
    union all
    select y.oid, y.typtype, b.typtypmod, y.typbasetype, y.typtypmod from pg_type y join base b on y.oid = b.typbasetype
  )
  select oid, typtype, typmod from base where typbasetype = 0
) t
left join pg_collation o on o.oid = a.attcollation
left join lateral (
  select d.oid, pg_get_expr(d.adbin, d.adrelid) as made from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum
) m on true
where c.oid = to_regclass($1)`;

/** The columns of a table or view; none where there is no such table. `table` is quoted. */
export async function readCatalog(run: RunQuery, table: string): Promise<readonly CatalogColumn[]> {
  const [row] = (await run(COLUMNS, [table])) as { columns?: string | readonly CatalogColumn[] | null }[];
  const columns = row?.columns ?? [];
  // A plugin that parses texts which look like JSON may have been here first.
  return typeof columns === 'string' ? (JSON.parse(columns) as CatalogColumn[]) : columns;
}

/** Columns of the primary key, in its order. */
export function primaryOf(columns: readonly CatalogColumn[]): CatalogColumn[] {
  return columns.filter(({ place }) => place).sort((a, b) => a.place! - b.place!);
}

/**
 * The column of the primary key. `table` is quoted.
 *
 * @throws {BloomConfigError} for a table without a primary key, and for one of several columns.
 */
export async function primaryKeyOf(run: RunQuery, maker: string, table: string): Promise<string> {
  const names = primaryOf(await readCatalog(run, table)).map(({ name }) => name);
  return onlyOf(maker, table.replace(/["`]/g, ''), names);
}

/** @throws {BloomConfigError} for none, and for several. */
export function onlyOf(maker: string, table: string, key: readonly string[]): string {
  if (key.length !== 1) throw new BloomConfigError(noSingleKey(maker, table, key));
  return key[0]!;
}

const HAS_KEY = `
select exists (
  select from pg_index i
  join pg_class c on c.oid = i.indrelid
  where i.indrelid = to_regclass($1) and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and not (c.relkind = 'r' and c.relhassubclass)
    and not exists (
      select from unnest(i.indkey::int2[]) with ordinality as p (attnum, place)
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = p.attnum
      where p.place <= i.indnkeyatts
        and (not a.attnotnull or a.attname::text not in (select json_array_elements_text($2::json))))
)::text as "hasKey"`;

/**
 * Whether these columns are a key of a table or view, none of them null, by the catalog: definitions may name
 * keys that are none, above all of views. `table` is quoted.
 */
export async function hasKey(run: RunQuery, table: string, columns: readonly string[]): Promise<boolean> {
  const [row] = (await run(HAS_KEY, [table, JSON.stringify(columns)])) as { hasKey?: unknown }[];
  return row?.hasKey === 'true' || row?.hasKey === true;
}

/** Runs a query with parameters and gives its rows. */
export type RunQuery = (sql: string, parameters: readonly unknown[]) => Promise<readonly unknown[]>;

/** A table of Postgres with fewer pages is counted, which takes some milliseconds. */
const FEW_PAGES = 1_000;

/**
 * Rows by the statistics of the planner, as it does itself: rows of a page when they were collected, times
 * the pages of now. `distinct` is negative where it is a share of the rows.
 */
const ESTIMATE = `
select sum(pg_relation_size(c.oid) / current_setting('block_size')::int)::float8 as pages,
       sum(case when c.relpages > 0 and c.reltuples >= 0
                then c.reltuples::float8 / c.relpages * (pg_relation_size(c.oid) / current_setting('block_size')::int)
                else 'NaN' end)::float8 as "rows",
       max(s.n_distinct)::float8 as "distinct", max(s.null_frac)::float8 as nulls
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = $2
where c.relkind in ('r', 'm')
  and (c.oid = to_regclass($1) or c.oid in (select relid from pg_partition_tree(to_regclass($1)) where isleaf))`;

/** A column whose values are counted. Its names are quoted, as in a query. */
export type EstimatedColumn = Pick<CatalogColumn, 'isUnique'> & Readonly<Record<'table' | 'column', string>>;

/**
 * About how many distinct values a column has; undefined where the planner does not know, or for small
 * tables.
 */
export async function estimateIds(run: RunQuery, of: EstimatedColumn): Promise<number | undefined> {
  const [row] = (await run(ESTIMATE, [of.table, of.column])) as Partial<Record<string, unknown>>[];
  const [pages, rows, distinct, nulls] = ['pages', 'rows', 'distinct', 'nulls'].map((name) =>
    typeof row?.[name] === 'number' || typeof row?.[name] === 'string' ? Number(row[name]) : undefined,
  );
  if (pages === undefined || pages < FEW_PAGES || rows === undefined || !(rows > 0)) return undefined;
  const filled = rows * (1 - (nulls ?? 0));
  if (of.isUnique) return Math.round(filled);
  if (distinct === undefined) return undefined;
  return Math.round(distinct < 0 ? -distinct * rows : distinct);
}

/** Options of a source that reads a table. */
export interface BloomTableOptions extends BloomPagingOptions {
  /**
   * The policies of row-level security show this user every row that may be looked up. Without it, a source
   * does not read a table with such policies: hidden rows would be answered "absent".
   */
  readonly seesAllRows?: boolean;
  /**
   * The server may be a standby. `rebuild.drainMs` and `topUp.overlapMs` have to exceed its lag. Without it,
   * a source does not read a standby: rows that it lacks would be answered "absent".
   */
  readonly fromReplica?: boolean;
}

/** What a table of Postgres may lack for whoever reads it. */
export type AllRowsOptions = Pick<BloomTableOptions, 'seesAllRows' | 'fromReplica'>;

/** As `row_security_active`, which other databases of the dialect do not have. */
const HAS_POLICIES = `
select (c.relrowsecurity and not r.rolsuper and not r.rolbypassrls
        and (c.relforcerowsecurity or not pg_has_role(c.relowner, 'usage')))::text as answer
from pg_class c, pg_roles r
where c.oid = to_regclass($1) and r.rolname = current_user`;

const IS_STANDBY = 'select pg_is_in_recovery()::text as answer';

/** Throws for a standby, and for a table of which policies show this user some rows. `table` is quoted. */
export async function expectAllRows(
  run: RunQuery,
  table: string,
  { seesAllRows = false, fromReplica = false }: AllRowsOptions,
): Promise<void> {
  if (!fromReplica) await expectPrimary(run, table);
  if (!seesAllRows && (await isTrue(run(HAS_POLICIES, [table]))))
    throw new BloomConfigError(rowsMayBeHidden(table));
}

/** @throws {BloomConfigError} for a standby. */
export async function expectPrimary(run: RunQuery, table: string): Promise<void> {
  if (await isTrue(run(IS_STANDBY, []))) throw new BloomConfigError(mayLagBehind(table));
}

/** The table, its partitions and the tables that inherit from it. */
const TREE = `
with recursive tree as (
  select to_regclass($1)::oid as oid
  union select i.inhrelid from pg_inherits i join tree t on i.inhparent = t.oid)`;

/** A row that is written into one of them directly gets its id from there. */
const OTHER_DEFAULT = `${TREE}
select min(t.oid::regclass::text) as answer
from tree t
join pg_attribute a on a.attrelid = t.oid and a.attname = $2
left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
where t.oid <> to_regclass($1) and (
  pg_get_expr(d.adbin, d.adrelid) <> $3
  or exists (
    select from pg_depend p
    where p.classid = 'pg_class'::regclass and p.refclassid = p.classid and p.refobjid = t.oid
      and p.refobjsubid = a.attnum and p.deptype = 'i'))`;

/** A partition, or a table that inherits that makes ids of the column in another way. Undefined for none. */
export async function otherMaker(
  run: RunQuery,
  table: string,
  { name, made = '' }: CatalogColumn,
): Promise<string | undefined> {
  return textOf(run(OTHER_DEFAULT, [table, name, made]));
}

/**
 * Servers of the dialect, and extensions, with several nodes: each takes ids and numbers its transactions by
 * itself. Undefined for Postgres alone.
 */
const MANY_NODES = `
select case when version() not like 'PostgreSQL %' or version() ~ '-YB-|Greenplum|Redshift' then version()
            else (select min(extname::text) from pg_extension where extname in ('citus', 'bdr', 'spock', 'pglogical'))
       end as answer`;

/** Name of what gives ids out on several servers; undefined for Postgres alone. */
export async function manyNodes(run: RunQuery): Promise<string | undefined> {
  return textOf(run(MANY_NODES, []));
}

/** A table that a logical subscription writes: the ids were taken on another server, by its transactions. */
const IS_SUBSCRIBED = `exists (select from pg_subscription_rel s join related t on s.srrelid = t.oid)`;

/** The table with all partitions and tables of its tree: a subscription may name one above or below. */
const RELATED = `
with recursive related as (
  select to_regclass($1)::oid as oid
  union select case i.inhparent when t.oid then i.inhrelid else i.inhparent end
  from pg_inherits i join related t on t.oid in (i.inhparent, i.inhrelid))`;

/** Views and foreign tables may have rows of other servers. */
const TELLS_TRANSACTIONS = `${RELATED}
select (current_setting('server_version_num')::int >= 130000 and not ${IS_SUBSCRIBED}
        and not exists (
          select from pg_class c join related t on c.oid = t.oid where c.relkind not in ('r', 'p')))::text as answer`;

/** Whether the server is one of Postgres that tells which transactions are open that write the table. */
export async function tellsTransactions(run: RunQuery, table: string): Promise<boolean> {
  return (await manyNodes(run)) === undefined && isTrue(run(TELLS_TRANSACTIONS, [table]));
}

/** Whether rows of the table come from another server. */
export async function isSubscribed(run: RunQuery, table: string): Promise<boolean> {
  return isTrue(run(`${RELATED} select (${IS_SUBSCRIBED})::text as answer`, [table]));
}

/**
 * The upper bound of a snapshot is the number after the last transaction that has ended. Others have begun to
 * write since, of which only the next number of the server knows: `age` counts from it, in 32 bits.
 */
const OPEN_TRANSACTIONS = `
select extract(epoch from pg_postmaster_start_time())::text as server,
       pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
       pg_snapshot_xmax(pg_current_snapshot())::text as bound,
       age('3'::xid)::text as age`;
const AGE_IS_FROM = 3n;

/** Numbers of transactions have 64 bits and never begin again. */
export async function openTransactions(run: RunQuery): Promise<BloomOpenTransactions> {
  const [row] = (await run(OPEN_TRANSACTIONS, [])) as Record<string, string | number>[];
  const { server, oldest, bound, age } = row!;
  const ended = BigInt(bound!);
  const next = ended + BigInt.asUintN(32, BigInt(age!) + AGE_IS_FROM - ended);
  return { server: String(server), oldest: BigInt(oldest!), next };
}

async function textOf(asked: Promise<readonly unknown[]>): Promise<string | undefined> {
  const [row] = (await asked) as { answer?: string | null }[];
  return row?.answer ?? undefined;
}

async function isTrue(asked: Promise<readonly unknown[]>): Promise<boolean> {
  const [row] = (await asked) as { answer?: unknown }[];
  return row?.answer === 'true' || row?.answer === true;
}
