import type { FilterBoard } from './inspection/index.js';

/** What a process reports of a filter, as far as commands show it. */
export interface ProcessReport {
  readonly startedAt: number;
  readonly mode: string;
  readonly guards: Readonly<Record<string, unknown>>;
}

/** The reports of all processes; another version of this package may have written them. */
export function reportsOf(boards: readonly FilterBoard[]): ProcessReport[] {
  return boards.flatMap(({ contents }) =>
    contents.instances.map(({ text, seenAt }) => {
      const report = parsed(text) as { startedAt?: unknown; metrics?: { mode?: unknown; guards?: unknown } };
      const { mode = 'unknown', guards } = report.metrics ?? {};
      return {
        startedAt: Number(report.startedAt) || seenAt,
        mode: String(mode),
        guards: (guards ?? {}) as ProcessReport['guards'],
      };
    }),
  );
}

function parsed(text: string): object {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
