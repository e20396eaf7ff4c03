/** Runs a query with parameters and gives its rows. */
export type RunQuery = (sql: string, parameters: readonly unknown[]) => Promise<readonly unknown[]>;

/** A table of Postgres with fewer pages is counted, which takes some milliseconds. */
const FEW_PAGES = 1_000;

/**
 * The rows of a table by the statistics of the planner, as it does itself: rows of a page when they were last collected, times the pages of
 * now. Of a partitioned table, those of its partitions. `distinct` is negative where it is a share of the rows.
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

export interface EstimatedColumn {
  /** Quoted, as in a query. */
  readonly table: string;
  readonly column: string;
  readonly isUnique: boolean;
}

/** About how many distinct values a column of Postgres has; undefined where the planner does not know, or the table is small. */
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
