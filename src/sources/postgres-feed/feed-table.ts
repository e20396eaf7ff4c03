import pg, { type Client } from 'pg';
import { BloomConfigError } from '../../common/index.js';
import type { PostgresFeedOptions } from './postgres-feed-options.js';
import {
  hidesColumn,
  hidesRows,
  NO_LOGICAL_WAL,
  noColumn,
  noPublication,
  noTable,
  publishesTooLittle,
  tableNotPublished,
} from './postgres-feed.messages.js';

type Followed = Pick<PostgresFeedOptions, 'table' | 'column' | 'publication' | 'create'>;

/** Deadline of a query of the catalog. */
const ANSWER_WITHIN_MS = 30_000;

/** The relations of the table: itself, which is the first, its partitions and children, and theirs. */
const RELATIONS = `
with recursive tree as (
  select to_regclass($1)::oid as oid
  union
  select i.inhrelid from pg_inherits i join tree t on i.inhparent = t.oid
)
select t.oid, c.relkind as kind, c.oid::regclass::text as name from tree t join pg_class c on c.oid = t.oid
order by t.oid <> to_regclass($1)::oid`;

/** As JSON, since older versions have fewer columns. */
const PUBLISHED = `
select c.oid, to_jsonb(p) as published from pg_publication_tables p
join pg_namespace n on n.nspname = p.schemaname join pg_class c on c.relname = p.tablename and c.relnamespace = n.oid
where p.pubname = $1`;

interface Relation {
  readonly oid: number;
  readonly kind: string;
  readonly name: string;
}

/**
 * Expects the log to have all rows of the table.
 *
 * @throws {BloomConfigError} when it has not: what to run.
 */
export async function expectPublished(client: Client, options: Followed): Promise<void> {
  const { table, column, publication, create = false } = options;
  const [level] = await rows<{ wal_level: string }>(client, 'show wal_level');
  if (level?.wal_level !== 'logical') throw new BloomConfigError(NO_LOGICAL_WAL(String(level?.wal_level)));
  const relations = await relationsOf(client, table);
  if (relations.length === 0) throw new BloomConfigError(noTable(table));
  const columns = await rows(
    client,
    'select 1 from pg_attribute where attrelid = $1 and attname = $2 and attnum > 0 and not attisdropped',
    [relations[0]!.oid, column],
  );
  if (columns.length === 0) throw new BloomConfigError(noColumn(table, column));
  const name = pg.escapeIdentifier(publication);
  const creation = `CREATE PUBLICATION ${name} FOR TABLE ${table} WITH (publish_via_partition_root = true);`;
  const find = () =>
    rows<{ all: boolean }>(
      client,
      'select pubinsert and pubupdate as "all" from pg_publication where pubname = $1',
      [publication],
    );
  let [found] = await find();
  if (!found && !create) throw new BloomConfigError(noPublication(publication, creation));
  if (!found) {
    await client.query(creation);
    [found] = await find();
  }
  if (!found?.all) {
    const sql = `ALTER PUBLICATION ${name} SET (publish = 'insert, update, delete, truncate');`;
    throw new BloomConfigError(publishesTooLittle(publication, sql));
  }
  await expectRelations(client, relations, options);
}

/** Whether the relation is the table, or a part of it. */
export async function isPartOf(client: Client, table: string, oid: number): Promise<boolean> {
  return (await relationsOf(client, table)).some((relation) => relation.oid === oid);
}

async function expectRelations(
  client: Client,
  relations: readonly Relation[],
  { table, column, publication }: Followed,
): Promise<void> {
  interface Published {
    readonly oid: number;
    readonly published: { readonly rowfilter?: string | null; readonly attnames?: readonly string[] };
  }
  const published = await rows<Published>(client, PUBLISHED, [publication]);
  const byOid = new Map(published.map((one) => [one.oid, one.published]));
  const [root] = relations;
  // With publish_via_partition_root the root stands for its partitions.
  const stored =
    byOid.has(root!.oid) && root!.kind === 'p' ? [root!] : relations.filter(({ kind }) => kind === 'r');
  for (const { oid, name } of stored) {
    const found = byOid.get(oid);
    const sql = `ALTER PUBLICATION ${pg.escapeIdentifier(publication)} ADD TABLE ${table};`;
    if (!found) throw new BloomConfigError(tableNotPublished(publication, name, sql));
    if (found.rowfilter) throw new BloomConfigError(hidesRows(publication, name));
    if (found.attnames && !found.attnames.includes(column))
      throw new BloomConfigError(hidesColumn(publication, name, column));
  }
}

async function relationsOf(client: Client, table: string): Promise<readonly Relation[]> {
  return rows<Relation>(client, RELATIONS, [table]);
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
