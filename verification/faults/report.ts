import type { Fault, Judgement } from './fault.js';

const COLUMNS: readonly { title: string; width: number; cell: (row: Judgement) => string }[] = [
  { title: 'fault', width: -44, cell: ({ fault }) => fault },
  { title: 'lookups', width: 11, cell: ({ lookups }) => lookups.toLocaleString('en') },
  { title: 'adds', width: 6, cell: ({ adds }) => adds.toLocaleString('en') },
  { title: 'rejected', width: 9, cell: ({ rejectedAdds }) => rejectedAdds.toLocaleString('en') },
  { title: 'wrong absents', width: 14, cell: ({ wrongAbsent }) => String(wrongAbsent) },
  { title: 'caller errors', width: 14, cell: ({ callerErrors }) => String(callerErrors) },
  { title: 'protected after', width: 16, cell: (row) => protectedAfter(row) },
];

export function hasFailed({ wrongAbsent, callerErrors, failure }: Judgement): boolean {
  return wrongAbsent > 0 || callerErrors > 0 || failure !== undefined;
}

/** Report of a fault that could not be judged. */
export function failedRow(fault: string, error: unknown): Judgement {
  return {
    fault,
    lookups: 0,
    adds: 0,
    rejectedAdds: 0,
    wrongAbsent: 0,
    callerErrors: 0,
    protectedAgainMs: null,
    isForGood: false,
    remarks: [],
    failure: String(error),
  };
}

export function heading(): string {
  return COLUMNS.map(({ title, width }) => pad(title, width)).join('');
}

export function tableRow(group: Fault['group'], row: Judgement): string {
  const cells = COLUMNS.map(({ cell, width }, i) =>
    pad(i === 0 ? `${group}: ${cell(row)}` : cell(row), width),
  );
  const notes = [...(row.failure ? [`FAILED: ${row.failure}`] : []), ...row.remarks];
  return [cells.join(''), ...notes.map((note) => `    ${note}`)].join('\n');
}

export function jsonRow({ remarks, ...row }: Judgement): string {
  return JSON.stringify({ ...row, ...(remarks.length > 0 && { remarks }) });
}

function protectedAfter({ protectedAgainMs, isForGood }: Judgement): string {
  if (isForGood) return 'unknown';
  return protectedAgainMs === null ? 'never' : `${protectedAgainMs.toLocaleString('en')} ms`;
}

function pad(text: string, width: number): string {
  return width < 0 ? text.padEnd(-width) : text.padStart(width);
}
