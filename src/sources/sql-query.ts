import type { RunQuery } from './planner-estimate.js';

/** A query in parts, with a value between any two of them, as a template literal has them: each library writes placeholders in its own way. */
export interface SqlQuery {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}

/** Runs a query and gives its rows. */
export type RunSql = (query: SqlQuery) => Promise<readonly object[]>;

/** For a query whose text has `$1` and further, and none in quotes. */
export function numbered(run: RunSql): RunQuery {
  return (sql, parameters) => {
    // Odd parts of the text are the numbers of its parameters.
    const parts = sql.split(/\$(\d+)/);
    return run({
      strings: parts.filter((_, i) => i % 2 === 0),
      values: parts.filter((_, i) => i % 2 === 1).map((number) => parameters[Number(number) - 1]),
    });
  };
}

/** With `$1` and further in place of the values. */
export function withNumbers({ strings }: SqlQuery): string {
  return strings.reduce((text, part, i) => `${text}$${i}${part}`);
}

/** With `?` in place of the values. */
export function withQuestionMarks({ strings }: SqlQuery): string {
  return strings.map((part) => part.replaceAll('?', '\\?')).join('?');
}
