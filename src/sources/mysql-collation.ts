import type { RunSql } from './sql-query.js';

/**
 * The collation by which MySQL or MariaDB compares a column; undefined for a column of no text. No row is
 * read.
 *
 * @param of the table and the column, quoted as in a query.
 */
export async function collationOf(
  run: RunSql,
  { table, column }: { readonly table: string; readonly column: string },
): Promise<string | undefined> {
  const query = `select collation(t.${column}) as collation from (select 1 as n) o left join ${table} t on 1 = 0`;
  const [row] = (await run({ strings: [query], values: [] })) as { collation?: unknown }[];
  // Numbers and times have the one of bytes.
  return typeof row?.collation === 'string' && row.collation !== 'binary' ? row.collation : undefined;
}
