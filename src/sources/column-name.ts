/**
 * Table and column, to compare with what another process reads: without schema and quotes, and in lower case,
 * since libraries write the same table differently.
 */
export function columnName(table: string, column: string): string {
  const bare = table.replace(/["`[\]]/g, '').replace(/^.*\./, '');
  return `${bare}.${column}`.toLowerCase();
}
