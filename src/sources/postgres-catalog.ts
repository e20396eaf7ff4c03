import type { RunQuery } from './planner-estimate.js';

/** A column, as the catalog of Postgres has it. */
export interface CatalogColumn {
  readonly name: string;
  /** The base type of a domain, and of a domain over one; `enum` for every enum; with `collate …` where texts that differ may be equal. */
  readonly type: string;
  /** No two rows of the table have values that the column takes for equal, by an index over all rows and this column alone. */
  readonly isUnique: boolean;
  /** Its place in the primary key, from 1. */
  readonly place?: number;
}

/**
 * A parent of tables that inherit has no key: that of a parent says nothing of the rows of its children, which a query reads too. The
 * one cell is text, since applications have drivers and plugins change what other types become. An index may compare otherwise than its
 * column: by a collation that distinguishes texts which the column treats as equal, or with case where the type is citext.
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
             and not (c.relkind = 'r' and c.relhassubclass))
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
where c.oid = to_regclass($1)`;

/**
 * The columns of a table or view of Postgres; none where there is no such table.
 *
 * @param table quoted, as in a query.
 */
export async function readCatalog(run: RunQuery, table: string): Promise<readonly CatalogColumn[]> {
  const [row] = (await run(COLUMNS, [table])) as { columns?: string | readonly CatalogColumn[] | null }[];
  const columns = row?.columns ?? [];
  // A plugin that parses texts which look like JSON may have been here first.
  return typeof columns === 'string' ? (JSON.parse(columns) as CatalogColumn[]) : columns;
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
 * Whether no two rows of a table or view of Postgres have equal values in these columns, and none is null, by the catalog: definitions of
 * tables name keys that are none, of views above all.
 *
 * @param table quoted, as in a query.
 */
export async function hasKey(run: RunQuery, table: string, columns: readonly string[]): Promise<boolean> {
  const [row] = (await run(HAS_KEY, [table, JSON.stringify(columns)])) as { hasKey?: unknown }[];
  return row?.hasKey === 'true' || row?.hasKey === true;
}
