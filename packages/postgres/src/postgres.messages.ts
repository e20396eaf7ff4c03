import { count, plural, printed } from 'nestjs-bloom/sources';

export const notAPool = (pool: unknown) =>
  `postgresCopy: expected pool to be a Pool of pg, or the token of one, got ${printed(pool)}.`;

export const wrongName = (option: string, got: unknown) =>
  `postgresCopy: expected ${option} to be a name of at least one character, got ${printed(got)}.`;

export const tooManyDots = (table: string) =>
  `postgresCopy: expected table to be a name, or a schema and a name with a dot between them, got ${printed(table)}. Give the schema ` +
  'by the option schema if there is a dot in one of the names.';

export const wrongOption = (option: string, got: unknown) =>
  `postgresCopy: expected ${option} to be true or false, got ${printed(got)}.`;

export const unknownOption = (option: string) =>
  `postgresCopy: there is no option ${option}. The options are pool, table, schema, column, type, seesAllRows, fromReplica and order.`;

export const noSuchTable = (table: string) =>
  `postgresCopy: expected a table of Postgres, got ${table}. There is no such table that this user sees; check its name, its schema and the ` +
  'search_path.';

export const noSuchTableColumn = (table: string, column: string, columns: readonly string[]) =>
  `postgresCopy: expected a column of ${table}, got '${column}'. Its columns are ${columns.join(', ')}.`;

export const bytesInScope = (name: string, type: string) =>
  `postgresCopy: expected no option scope with ids that are bytes, got ${name} of type ${type}. Write a source with scopedId(scope, id) yourself.`;

export const noIdType = (column: string, type: string) =>
  `postgresCopy: ${column} is of type ${type}, of which it is not known how an application spells a value. Read a view whose column is ` +
  'cast to a type of text, integers, uuid or bytea, or use fromPages of nestjs-bloom.';

export const NOT_PG =
  'postgresCopy: expected clients of pg whose connection has a stream, got another one. The native bindings of pg cannot be read by it. Use ' +
  'fromPages of nestjs-bloom.';

export const NOT_BINARY_COPY =
  'Expected the rows of COPY in the binary format of Postgres, got something else. Connect to Postgres itself, or use fromPages of ' +
  'nestjs-bloom.';

export const rowsMissing = (rows: number, said: number) =>
  `Expected COPY to return ${plural(said, 'row')}, as the server says, got ${count(rows)}.`;

export const ENDED_EARLY =
  'COPY ended before its last row: the connection was lost, or the server stopped it.';
