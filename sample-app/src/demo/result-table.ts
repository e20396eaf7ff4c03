import type { PhaseResult } from './demo-result.js';

type Cell = (phase: PhaseResult) => string;

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const COLUMNS: readonly { readonly header: readonly [string, string]; readonly cell: Cell }[] = [
  { header: ['', 'phase'], cell: ({ name }) => name },
  { header: ['', 'requests'], cell: ({ requests }) => whole.format(requests) },
  { header: ['requests', '/s'], cell: ({ requestsPerSecond }) => whole.format(requestsPerSecond) },
  { header: ['p50', 'ms'], cell: ({ p50Ms }) => tenths.format(p50Ms) },
  { header: ['p99', 'ms'], cell: ({ p99Ms }) => tenths.format(p99Ms) },
  { header: ['cache', 'hits'], cell: ({ cacheHits }) => whole.format(cacheHits) },
  { header: ['database', 'queries'], cell: ({ databaseQueries }) => whole.format(databaseQueries) },
  { header: ['not', 'found'], cell: ({ notFound }) => whole.format(notFound) },
  { header: ['let', 'through'], cell: ({ falsePositives }) => whole.format(falsePositives) },
  { header: ['wrong', 'absents'], cell: ({ wrongAbsent }) => whole.format(wrongAbsent) },
];

export function renderTable(phases: readonly PhaseResult[]): string {
  const columns = COLUMNS.map(({ header, cell }) => [...header, ...phases.map(cell)]);
  const widths = columns.map((cells) => Math.max(...cells.map(({ length }) => length)));
  const lines = columns[0]!.map((_, line) =>
    columns
      .map((cells, column) => {
        const cell = cells[line]!;
        return column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
      })
      .join('  ')
      .trimEnd(),
  );
  lines.splice(2, 0, '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)));
  return `${lines.join('\n')}\n`;
}
