/**
 * How a column of timestamps of Postgres is read as text: in UTC, to the microsecond, and of one width, so that texts are in the order of the times whatever the settings
 * of the session are. The parameter is cast by way of text, since some drivers make a `Date` of what is compared with a timestamp. Null for a time that has no such text.
 * Undefined for other types.
 */
export function readTime(
  type: string,
): { readonly read: (column: string) => string; readonly cast: string } | undefined {
  if (/^timestamp(?:\(\d\))? with time zone$/.test(type))
    return {
      read: (column) => text(column, `${column} at time zone 'UTC'`, '"Z"'),
      cast: '::text::timestamptz',
    };
  if (/^timestamp(?:\(\d\))? without time zone$/.test(type))
    return { read: (column) => text(column, column, ''), cast: '::text::timestamp' };
  return undefined;
}

function text(column: string, time: string, zone: string): string {
  const hasText = `${column} >= '0001-01-02' and ${column} < '9999-12-31'`;
  return `case when ${hasText} then to_char(${time}, 'YYYY-MM-DD"T"HH24:MI:SS.US${zone}') end`;
}
