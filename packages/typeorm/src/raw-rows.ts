import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { exactPlace } from 'nestjs-bloom/sources';
import type { DescribedTable, RawRow } from './described-table.js';

export interface PageOfRows {
  readonly table: DescribedTable;
  readonly after: RawRow | undefined;
  readonly take: number;
  readonly replicationMode: 'master' | 'slave';
}

/** One page: past every cache, soft-deleted rows included. */
export async function readRows(
  dataSource: DataSource,
  { table, after, take, replicationMode }: PageOfRows,
): Promise<RawRow[]> {
  const { entity, id, scope, order, isDistinct } = table;
  const runner = dataSource.createQueryRunner(replicationMode);
  try {
    const query = dataSource
      .getRepository(entity)
      .createQueryBuilder('row', runner)
      .withDeleted()
      .cache(false)
      .select(isDistinct ? (table.isIdText ? asText(id) : `row.${id}`) : valueOf(table), 'id')
      .where(`row.${id} IS NOT NULL`)
      .limit(take);
    if (scope !== undefined) query.addSelect(`row.${scope}`, 's');
    if (!isDistinct) query.distinct().orderBy('id', 'ASC');
    order.forEach((property, i) => {
      // The id itself, read as it is, is its own place in the order.
      if (isRead(table, property)) query.addSelect(selected(table, property), `k${i}`);
      query.addOrderBy(`row.${property}`, 'ASC');
    });
    if (after) startAfter(query, table, after);
    return await query.getRawMany<RawRow>();
  } finally {
    await runner.release();
  }
}

function isRead(table: DescribedTable, property: string): boolean {
  return property !== table.id || (table.asText.has(property) && !table.isIdText);
}

function selected(table: DescribedTable, property: string): string {
  return table.asText.has(property) ? asText(property) : `row.${property}`;
}

function asText(property: string): string {
  return `CAST(row.${property} AS text)`;
}

/**
 * Rows of a table without a key. Values that the column takes for equal and that are different texts are each
 * read.
 */
function valueOf({ id, isValueText }: DescribedTable): string {
  return isValueText ? `${asText(id)} COLLATE "C"` : `row.${id}`;
}

function startAfter(query: SelectQueryBuilder<ObjectLiteral>, table: DescribedTable, after: RawRow): void {
  const { order, comparesRows, isDistinct } = table;
  const columns = isDistinct ? order.map((property) => `row.${property}`) : [valueOf(table)];
  const values = columns.map((_, i) =>
    exactPlace(isDistinct && isRead(table, order[i]!) ? after[`k${i}`] : after.id),
  );
  query.setParameters(Object.fromEntries(values.map((value, i) => [`k${i}`, value])));
  if (columns.length === 1) query.andWhere(`${columns[0]} > :k0`);
  else if (comparesRows)
    query.andWhere(`(${columns.join(', ')}) > (${values.map((_, i) => `:k${i}`).join(', ')})`);
  else query.andWhere(`(${columns.map((_, i) => isAfterIn(columns, i)).join(' OR ')})`);
}

/** Equal in the columns before this one, and after the row in this one. */
function isAfterIn(columns: readonly string[], at: number): string {
  const equal = columns.slice(0, at).map((column, i) => `${column} = :k${i}`);
  return `(${[...equal, `${columns[at]} > :k${at}`].join(' AND ')})`;
}
