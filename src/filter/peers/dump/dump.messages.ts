export const wrongDump = (dump: string, expected: string, got: string, command: string) =>
  `Expected ${dump} with ${expected}, got ${got}. Pass every reply of ${command}, each with the iterator that it had.`;

export const changedWhileDumped = (dump: string, expected: string, got: string) =>
  `Expected ${dump} of one moment, with ${expected}, got ${got}. The filter was changed while it was dumped: dump a copy ` +
  'that nobody writes to, made by DUMP of the key and RESTORE under another name (COPY is refused for such keys).';
