export const notOfATable = (column: string) =>
  `fromDrizzle: expected a column of a table, got '${column}' of a view or an alias. Give the column of its table, or use fromPages ` +
  'of nestjs-bloom.';

export const ROWS_NOT_OBJECTS =
  'fromDrizzle: expected the driver of Drizzle to give rows as objects, got something else. Use fromPages of nestjs-bloom.';
