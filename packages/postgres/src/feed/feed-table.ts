import { createHash } from 'node:crypto';
import pg, { type Client } from 'pg';
import { BloomConfigError } from 'nestjs-bloom';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import {
  hidesColumn,
  hidesRows,
  isGenerated,
  NO_LOGICAL_WAL,
  noColumn,
  noOneText,
  noPublication,
  noTable,
  notInLog,
  publishesTooLittle,
  tableNotPublished,
} from './postgres-feed.messages.js';

type Followed = Pick<PostgresFeedOptions, 'table' | 'column' | 'publication' | 'create'>;

/** Deadline of a query of the catalog. */
const ANSWER_WITHIN_MS = 30_000;
const PRINT_LENGTH = 16;

/**
 * The relations of the table: itself, which is the first, its partitions and children, and theirs. `version`
 * changes when the column becomes another one, by whatever statement. A domain has the text of its base type.
 */
const RELATIONS = `
with recursive tree as (
  select to_regclass($1)::oid as oid
  union
  select i.inhrelid from pg_inherits i join tree t on i.inhparent = t.oid
)
select t.oid, c.oid::regclass::text as name, c.relkind in ('r', 'p') and c.relpersistence = 'p' as "isLogged",
  c.relkind = 'p' as "isPartitioned", a.attnum || '.' || a.xmin as version, a.attgenerated <> '' as "isGenerated",
  a.atttypid as type, format_type(a.atttypid, a.atttypmod) as "typeName", b.typname = 'bytea' as "isBytes",
  b.typcategory not in ('A', 'C', 'D', 'G', 'R', 'T')
    and (b.typcategory <> 'N' or b.typname in ('int2', 'int4', 'int8', 'numeric', 'oid')) as "hasOneText"
from tree t join pg_class c on c.oid = t.oid
left join pg_attribute a on a.attrelid = c.oid and a.attname = $2 and a.attnum > 0 and not a.attisdropped
left join lateral (
  with recursive base as (
    select y.* from pg_type y where y.oid = a.atttypid
    union all
    select y.* from pg_type y join base on y.oid = base.typbasetype
  )
  select typname, typcategory from base where typbasetype = 0
) b on true
order by t.oid <> to_regclass($1)::oid`;

interface Relation {
  readonly oid: number;
  readonly name: string;
  /** Postgres writes its rows to the log, or those of its partitions. */
  readonly isLogged: boolean;
  readonly isPartitioned: boolean;
  /** Null without the column, as all that follows. */
  readonly version: string | null;
  readonly isGenerated: boolean;
  readonly type: number;
  readonly typeName: string;
  readonly isBytes: boolean;
  /** The text of a value does not depend on settings of the session. */
  readonly hasOneText: boolean;
}

/** The publication and the tables in it, each of which is another one after it was dropped and came back. */
const PUBLICATION = `
select p.pubinsert and p.pubupdate as "hasAll", 'p' || p.oid || '.' || p.xmin || coalesce((
  select string_agg(' m' || m.oid || '.' || m.xmin, '') from pg_publication_rel m
  where m.prpubid = p.oid and (m.prrelid = any($2) or m.prrelid in (select relid from pg_partition_ancestors($3)))
), '') as parts
from pg_publication p where p.pubname = $1`;

interface Publication {
  readonly hasAll: boolean;
  readonly parts: string;
}

/** As JSON, since older versions have fewer columns. */
const PUBLISHED = `
select c.oid, to_jsonb(p) as published from pg_publication_tables p
join pg_namespace n on n.nspname = p.schemaname join pg_class c on c.relname = p.tablename and c.relnamespace = n.oid
where p.pubname = $1`;

/** What the log is read for, as the catalog has it. */
export interface FollowedTable {
  /** The type of the column in each relation that has rows of the table, by the OID of the relation. */
  readonly types: ReadonlyMap<number, number>;
  readonly isBytes: boolean;
  /**
   * What decides which rows the log has, each with a name for reports. A new one may bring rows past the log.
   */
  readonly parts: ReadonlyMap<string, string>;
  /** The same in a few characters. */
  readonly print: string;
}

/** @throws {BloomConfigError} when Postgres writes no logical log: what to run. */
export async function expectLogicalLog(client: Client): Promise<void> {
  const [level] = await rows<{ wal_level: string }>(client, 'show wal_level');
  if (level?.wal_level !== 'logical') throw new BloomConfigError(NO_LOGICAL_WAL(String(level?.wal_level)));
}

/**
 * The table, of which the log has all rows. The publication is created where it may be.
 *
 * @throws {BloomConfigError} when the log lacks some: what to run.
 */
export async function readTable(client: Client, options: Followed): Promise<FollowedTable> {
  const relations = await rows<Relation>(client, RELATIONS, [quotedTable(options.table), options.column]);
  const root = expectColumn(relations, options);
  const publication = await readPublication(client, relations, options);
  await expectPublished(client, relations, options);
  const parts = new Map(relations.map(({ oid, version, name }) => [`${oid}.${version}`, name]));
  for (const part of publication.parts.split(' ')) parts.set(part, `the publication ${options.publication}`);
  return {
    types: new Map(relations.map(({ oid, type }) => [oid, type])),
    isBytes: root.isBytes,
    parts,
    print: createHash('sha256')
      .update([...parts.keys()].sort().join())
      .digest('hex')
      .slice(0, PRINT_LENGTH),
  };
}

/** As in a query. A text with quotes is one already. */
export function quotedTable(table: string): string {
  return table.includes('"') ? table : table.split('.').map(pg.escapeIdentifier).join('.');
}

/** @throws {BloomConfigError} when the log has no values of the column, or not those that a source reads. */
function expectColumn(relations: readonly Relation[], { table, column }: Followed): Relation {
  const [root] = relations;
  if (!root) throw new BloomConfigError(noTable(quotedTable(table)));
  const unlogged = relations.find(({ isLogged }) => !isLogged);
  if (unlogged) throw new BloomConfigError(notInLog(unlogged.name));
  if (root.version === null) throw new BloomConfigError(noColumn(root.name, column));
  const generated = relations.find((one) => one.isGenerated);
  if (generated) throw new BloomConfigError(isGenerated(generated.name, column));
  if (!root.hasOneText) throw new BloomConfigError(noOneText(root.name, column, root.typeName));
  return root;
}

async function readPublication(
  client: Client,
  relations: readonly Relation[],
  { publication, create = false }: Followed,
): Promise<Publication> {
  const name = pg.escapeIdentifier(publication);
  const [root] = relations;
  const creation = `CREATE PUBLICATION ${name} FOR TABLE ${root!.name} WITH (publish_via_partition_root = true);`;
  const oids = relations.map(({ oid }) => oid);
  const find = () => rows<Publication>(client, PUBLICATION, [publication, oids, root!.oid]);
  let [found] = await find();
  if (!found && !create) throw new BloomConfigError(noPublication(publication, creation));
  if (!found) {
    await client.query(creation);
    [found] = await find();
  }
  if (found?.hasAll) return found;
  const sql = `ALTER PUBLICATION ${name} SET (publish = 'insert, update, delete, truncate');`;
  throw new BloomConfigError(publishesTooLittle(publication, sql));
}

async function expectPublished(
  client: Client,
  relations: readonly Relation[],
  { column, publication }: Followed,
): Promise<void> {
  interface Published {
    readonly oid: number;
    readonly published: { readonly rowfilter?: string | null; readonly attnames?: readonly string[] };
  }
  const published = await rows<Published>(client, PUBLISHED, [publication]);
  const byOid = new Map(published.map((one) => [one.oid, one.published]));
  const [root] = relations;
  // With publish_via_partition_root the root stands for its partitions.
  const isWhole = root!.isPartitioned && byOid.has(root!.oid);
  const stored = isWhole ? [root!] : relations.filter(({ isPartitioned }) => !isPartitioned);
  for (const { oid, name } of stored) {
    const found = byOid.get(oid);
    const sql = `ALTER PUBLICATION ${pg.escapeIdentifier(publication)} ADD TABLE ${name};`;
    if (!found) throw new BloomConfigError(tableNotPublished(publication, name, sql));
    if (found.rowfilter) throw new BloomConfigError(hidesRows(publication, name));
    if (found.attnames && !found.attnames.includes(column))
      throw new BloomConfigError(hidesColumn(publication, name, column));
  }
}

export async function rows<Row>(
  client: Client,
  sql: string,
  values: readonly unknown[] = [],
  timeoutMs = ANSWER_WITHIN_MS,
): Promise<Row[]> {
  const query = { text: sql, values: [...values], query_timeout: timeoutMs };
  return (await client.query(query)).rows as Row[];
}
